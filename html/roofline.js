// roofline.js - the roofline of memory and arithmetic, by level and precision, and that of launching.

const LEVELS = [['dram', 'DRAM'], ['l2', 'L2'], ['l1', 'L1'], ['shared', 'shared memory']];
const PRECISIONS = [['all', 'all floating point'], ['fp64', 'FP64'], ['fp32', 'FP32'], ['fp16', 'FP16'],
	['tensor_fp64', 'FP64 tensor'], ['tensor_tf32', 'TF32 tensor'], ['tensor_bf16', 'BF16 tensor'],
	['tensor_fp16', 'FP16 tensor'], ['tensor_fp8', 'FP8 tensor'], ['tensor_int8', 'INT8 tensor']];

const NARROW = 640, ROOF_TEXTS = 192; // pixels: a page that has no room beside a plane, and what texts of roofs take there

const RING = 'Each disk is a kernel, the larger the more time it took; the ring is the whole application';

const isAmount = (value) => typeof value === 'number' && value > 0;

function allPoints(roofline) {
	return [roofline.application, ...roofline.kernels, ...roofline.graphs].filter((point) => point && point.is_counted);
}

// Operations per byte and per second of a point; null where it is not known or has none.
function placeOf(point, level, precision) {
	if (precision === 'all')
		return isAmount(point.intensity[level]) && isAmount(point.flop_per_s)
			? [point.intensity[level], point.flop_per_s] : null;
	const work = point.quantities[precision], bytes = point.quantities[level];
	return isAmount(work.per_launch) && isAmount(bytes.per_launch) && isAmount(work.per_s)
		? [work.per_launch / bytes.per_launch, work.per_s] : null;
}

function pointTitle(point, timeline) {
	return point.kind === 'application' ? 'the whole application' : point.kind === 'graph' ? `graph ${point.graph}`
		: timeline.shortName(point.name);
}

function pointColor(point, timeline) {
	return point.kind === 'application' ? null : colorOf('stream',
		point.kind === 'graph' ? 8 : timeline.kernelClass(point.name));
}

function choice(label, entries, chosen, change) {
	const select = element('select', {onchange: (event) => change(event.target.value)},
		entries.map(([value, text]) => element('option', {value, selected: value === chosen}, text)));
	return element('label', {}, `${label} `, select);
}

function showRoofline(report, timeline) {
	const {roofline} = report;
	if (!roofline || !roofline.ceilings || !allPoints(roofline).length)
		return;
	const state = {level: 'dram', precision: 'all'};
	const holder = element('div', {});
	const draw = keepDrawn(holder, (width) => rooflineOf(roofline, state, timeline, width));
	const has = (precision) => precision === 'all' ||
		allPoints(roofline).some((point) => isAmount((point.quantities[precision] || {}).per_s));
	const change = (key) => (value) => {
		state[key] = value;
		draw();
	};
	section('roofline', 'Roofline', roofline.ceilings.note, element('div', {class: 'bar'},
		choice('Memory', LEVELS.filter(([level]) => isAmount(roofline.ceilings.roofs[level])), state.level, change('level')),
		choice('Arithmetic', PRECISIONS.filter(([precision]) => has(precision)), state.precision, change('precision'))), holder);
	draw();
	document.getElementById('roofline').append(sharesTable(roofline, timeline));
}

// Of every roof what a kernel reaches of it, and which is the nearest.
function sharesTable(roofline, timeline) {
	const points = allPoints(roofline), share = (key) => (point) => (point.quantities[key] || {}).share;
	const keys = Object.keys(points[0].quantities).filter((key) => points.some((point) => isAmount(share(key)(point))));
	const columns = [
		{key: 'name', label: 'kernel', of: (point) => pointTitle(point, timeline), text: (value) => value, isName: true,
			title: (point) => point.name},
		columnOf('time_ns'), columnOf('launch_count'), columnOf('flop_per_s'),
		...keys.map((key) => ({key, label: roofTitle(key), of: share(key), isNumber: true,
			text: (value) => isAmount(value) ? formatShare(value) : '', bar: (point) => share(key)(point) || 0})),
		{key: 'binding', label: 'nearest roof', of: (point) => point.binding, text: (value) => value ? roofTitle(value) : ''},
	];
	return element('div', {}, element('h3', {}, 'Share of each roof that is reached'),
		new Table(points, columns, {caption: 'shares of roofs', sortBy: 'time_ns'}).made);
}

function roofTitle(key) {
	const found = [...LEVELS, ...PRECISIONS].find(([known]) => known === key);
	return found ? found[1] : key.replace(/_/g, ' ');
}

function rooflineOf(roofline, {level, precision}, timeline, width) {
	const {roofs} = roofline.ceilings, bandwidth = roofs[level];
	const places = allPoints(roofline).map((point) => ({point, place: placeOf(point, level, precision)}))
		.filter(({place}) => place);
	if (!places.length)
		return element('p', {class: 'why'}, 'Nothing that was counted has such arithmetic.');
	const tops = PRECISIONS.filter(([key]) => isAmount(roofs[key]) && (precision === 'all' || key === precision));
	const most = Math.max(...tops.map(([key]) => roofs[key]), 1);
	const x = logRange([...places.map(({place}) => place[0]), most / bandwidth, 0.1], 3);
	const y = logRange([...places.map(({place}) => place[1]), most, x.low * bandwidth * 100], 3);
	const beside = width < NARROW ? undefined : ROOF_TEXTS;
	const plane = new Plane('Roofline', width, {...x, title: `FLOP/byte of ${LEVELS.find(([key]) => key === level)[1]}`,
		tick: (value) => String(Number(value.toPrecision(2)))},
	{...y, title: 'FLOP/s', tick: (value) => formatPerSecond(value, '')}, beside);
	const untold = drawRoofs(plane, roofs, tops, level, {x, y, beside});
	for (const {point, place} of places.reverse())
		plane.point(place[0], place[1], pointRadius(point, roofline), pointColor(point, timeline),
			describePoint(point, place, level, timeline));
	const missing = allPoints(roofline).length - places.length;
	return element('figure', {}, plane.svg, element('figcaption', {}, RING + (missing ?
		`; ${missing} of ${allPoints(roofline).length} have no such arithmetic, or it was not counted` : '') +
		(untold.length ? `; the roofs without a text are ${untold.map((roof) => roofText(roofs, roof)).join(', ')}` : '')));
}

// Returns the roofs that have no text in the plane.
function drawRoofs(plane, roofs, tops, level, {x, y, beside}) {
	const bandwidth = roofs[level], most = Math.max(...tops.map(([key]) => roofs[key]), 1);
	const from = Math.max(x.low, y.low / bandwidth);
	plane.curve([[from, from * bandwidth], [Math.min(x.high, most / bandwidth), Math.min(most, x.high * bandwidth)]], 'roof');
	const reached = tops.filter(([key]) => roofs[key] / bandwidth < x.high).sort((a, b) => roofs[b[0]] - roofs[a[0]]);
	for (const [key, label] of reached)
		plane.curve([[Math.max(x.low, roofs[key] / bandwidth), roofs[key]], [x.high, roofs[key]]],
			roofs[key] === most ? 'roof' : 'roof minor', roofText(roofs, [key, label]));
	const untold = beside ? listRoofs(plane, roofs, reached) : writeRoofs(plane, roofs, reached);
	plane.text(plane.px(from) + 10, plane.py(from * bandwidth) + 14, `${roofTitle(level)} ${formatPerSecond(bandwidth, 'B/s')}`,
		'rooftext');
	return untold || [];
}

const roofText = (roofs, [key, label]) => `${label} ${formatPerSecond(roofs[key], 'FLOP/s')}`;

// At the right of the plane, one below the other, each with a line to its roof.
function listRoofs(plane, roofs, reached) {
	let last = -Infinity;
	for (const roof of reached) {
		const line = plane.py(roofs[roof[0]]), at = Math.max(line, last + 15);
		plane.line(plane.right, line, plane.right + 12, at, 'minor');
		plane.text(plane.right + 16, at + 4, roofText(roofs, roof), 'rooftext');
		last = at;
	}
}

// On a narrow page: above each roof, or below where there is room.  Returns those that have neither.
function writeRoofs(plane, roofs, reached) {
	const lines = reached.map(([key]) => plane.py(roofs[key])), texts = [];
	const isFree = (from, to, own) => !lines.some((line, other) => other !== own && line > from && line < to) &&
		!texts.some((text) => text.from < to && from < text.to);
	return reached.filter((roof, index) => {
		const line = lines[index];
		const place = [{from: line - 16, to: line, base: line - 4}, {from: line, to: line + 16, base: line + 13}]
			.find(({from, to}) => isFree(from, to, index));
		if (!place)
			return true;
		texts.push(place);
		plane.text(plane.right - 4, place.base, roofText(roofs, roof), 'rooftext', 'end');
		return false;
	});
}

function pointRadius(point, {application}) {
	const share = application && application.time_ns ? point.time_ns / application.time_ns : 0;
	return 4 + 10 * Math.sqrt(Math.min(1, share));
}

function describePoint(point, place, level, timeline) {
	const quantity = point.quantities[level];
	return [pointTitle(point, timeline), `${formatTime(point.time_ns)} in ${formatCount(point.launch_count)} launches`,
		`${formatPerSecond(place[1], 'FLOP/s')}, ${threeDigits(place[0])} FLOP/byte`,
		quantity.share && `${formatShare(quantity.share)} of the roof of this memory`,
		point.binding && `nearest roof: ${roofTitle(point.binding)}, ${formatShare(point.binding_share)} of it`,
		point.is_wrong && 'its counters do not add up'];
}

// ---- launching ----

function showLaunchRoofline(report, timeline) {
	const roofline = report.launch_roofline, period = roofline && roofline.ceilings && roofline.ceilings.launch_period_ns;
	const points = roofline ? [roofline.application, ...roofline.kernels, ...roofline.graphs]
		.filter((point) => point && isAmount(point.duration_ns) && isAmount(point.busy_share)) : [];
	if (!points.length)
		return;
	const holder = element('div', {});
	const draw = keepDrawn(holder, (width) => launchRooflineOf(roofline, points, period, timeline, width));
	section('launch_roofline', 'Launching', period ? `a launch every ${formatTime(period)} at best` : null, holder);
	draw();
}

function launchRooflineOf(roofline, points, period, timeline, width) {
	const x = logRange([...points.map((point) => point.duration_ns), period || 1000], 3);
	const y = logRange([...points.map((point) => point.busy_share), 1], 2);
	const plane = new Plane('Share of time that the GPU is busy, by duration of kernels', width,
		{...x, title: 'duration of a kernel', tick: formatTime},
		{...y, high: 1, title: 'share of time busy', tick: formatShare});
	if (period) {
		plane.curve([[Math.max(x.low, period * y.low), Math.max(y.low, x.low / period)], [period, 1]], 'roof');
		plane.curve([[period, 1], [x.high, 1]], 'roof');
		const from = Math.max(x.low, period * y.low);
		plane.text(plane.px(from) + 10, plane.py(from / period) + 14, `a launch every ${formatTime(period)}`, 'rooftext');
		plane.text(plane.right - 4, plane.py(1) + 14, 'always busy', 'rooftext', 'end');
	}
	for (const point of points.slice().reverse())
		plane.point(point.duration_ns, point.busy_share, pointRadius(point, roofline), pointColor(point, timeline),
			[pointTitle(point, timeline), `${formatTime(point.duration_ns)} each, ${formatCount(point.launch_count)} launches`,
				`the GPU is busy for ${formatShare(point.busy_share)} of the time`,
				isAmount(point.launch_lost_ns) && `${formatTime(point.launch_lost_ns)} lost to launching`]);
	return element('figure', {}, plane.svg, element('figcaption', {}, RING));
}
