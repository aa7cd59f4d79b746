// sections.js - kernels and gaps, and all that the report has besides, each as a table.

function showKernels(report, timeline) {
	if (!report.kernels.length)
		return;
	const sum = report.kernels.reduce((total, kernel) => total + kernel.total_ns, 0);
	const columns = [
		columnOf('name', {isName: true, label: 'kernel', text: (name) => timeline.shortName(name), title: (row) => row.name,
			before: (row) => swatch('stream', timeline.kernelClass(row.name))}),
		columnOf('count'), columnOf('total_ns'),
		{key: 'share', label: 'share', of: (row) => row.total_ns / sum, text: formatShare, isNumber: true,
			bar: (row) => row.total_ns / sum},
		...['mean_ns', 'p50_ns', 'p99_ns', 'min_ns', 'max_ns', 'grid', 'block', 'registers', 'waves']
			.map((key) => columnOf(key)),
		columnOf('theoretical_occupancy', {label: 'occupancy', title_text: 'theoretical: as many warps as its resources allow'}),
	];
	section('kernels', 'Kernels', null, new Table(report.kernels, columns,
		{caption: 'kernels', sortBy: 'total_ns'}).made);
}

function showGaps(report, timeline, view) {
	if (!report.gaps.length)
		return;
	const title = (key) => timeline.causes.find((cause) => cause.key === key).title;
	const opName = (op) => op ? timeline.shortName(op.name || op.kind) : '';
	const columns = [
		momentColumn('start_relative_ns', report.gaps, {label: 'begins'}),
		columnOf('duration_ns', {bar: (row) => row.duration_ns / report.gaps[0].duration_ns}),
		columnOf('cause', {text: title, before: (row) => swatch('idle', timeline.causes.findIndex(({key}) => key === row.cause))}),
		{key: 'causes', label: 'all causes', of: (row) => causesText(row, timeline), text: (value) => value},
		{key: 'before', label: 'after', of: (row) => opName(row.before), text: (value) => value, isName: true,
			title: (row) => row.before && row.before.name},
		{key: 'after', label: 'before', of: (row) => opName(row.after), text: (value) => value, isName: true,
			title: (row) => row.after && row.after.name},
		{key: 'host', label: 'host', of: (row) => hostText(row.host), text: (value) => value, isText: true},
	];
	if (report.devices.length > 1)
		columns.unshift(columnOf('device'));
	section('gaps', 'Longest gaps', 'choose one to see it in the timeline', new Table(report.gaps, columns,
		{caption: 'gaps', sortBy: 'duration_ns', choose: (row) => showGap(row, timeline, view)}).made);
}

function causesText(gap, timeline) {
	return timeline.causes.filter((cause) => gap.by_cause[cause.key] > 0)
		.sort((a, b) => gap.by_cause[b.key] - gap.by_cause[a.key])
		.map((cause) => `${cause.title} ${formatTime(gap.by_cause[cause.key])}`).join(', ');
}

// What the thread did that ended the gap, as the text report says it.
function hostText(host) {
	if (!host || host.thread === null)
		return '';
	const where = `thread ${host.thread}${host.range === null ? '' : ` in '${host.range}'`}: `;
	if (host.own_ns && host.own_ns >= host.call_ns)
		return `${where}${formatTime(host.own_ns)} of its own code${host.after_call ? ` after ${host.after_call}` : ''}, ` +
			`then ${host.then_call}`;
	if (host.call_ns)
		return `${where}${formatTime(host.call_ns)} in ${host.longest_call}` +
			(host.longest_call === host.launch_call ? '' : `, then ${host.launch_call}`);
	return `${where}${host.launch_call} had returned ${formatTime(host.returned_ns)} before`;
}

function showGap(gap, timeline, view) {
	if (!view)
		return;
	view.showSpan(timeline.first_ns + gap.start_relative_ns, gap.duration_ns);
	document.getElementById('timeline_section').scrollIntoView({block: 'start'});
	view.canvas.focus({preventScroll: true});
}

// ---- atomics and samples ----

// Sections of the report that are one part of the page, where there is anything in them.
const GROUPS = [
	['Atomics', ['atomics']],
	['Samples', ['sampling', 'sm_activity', 'device_work']],
];

function showGroups(report, timeline) {
	for (const [title, keys] of GROUPS) {
		const parts = keys.flatMap((key) => partsOf(report[key] || []).filter(([, rows]) => rows.length)
			.map(([name, rows]) => [name || key, rows]));
		if (!parts.length || report[keys[0]].is_counted === false)
			continue;
		const made = section(keys[0], title, null);
		for (const [name, rows] of parts)
			made.append(element('h3', {}, titleOf(name)), tableOf(rows, timeline, {caption: `${title}, ${name}`}));
	}
}

// ---- everything else ----

// What has a part of the page of its own.
const SHOWN_ELSEWHERE = new Set([...GROUPS.flatMap(([, keys]) => keys), 'verdict', 'kernels', 'roofline', 'launch_roofline', 'gaps', 'plan', 'advice', 'rejected',
	'losses', 'not_visible', 'schema', 'recording', 'selection', 'first_ns']);

const TITLES = {sm_activity: 'SM activity', api: 'API calls', jit: 'Code compiled or loaded', ranges: 'NVTX ranges',
	next: 'Next', steady_state: 'Steady state', kernel_memory: 'What kernels were given'};

const titleOf = (key) => TITLES[key] || labelOfKey(key).replace(/^./, (letter) => letter.toUpperCase());

// The figures of an object that stands for a section, and then its lists.
function partsOf(value) {
	if (Array.isArray(value))
		return [['', value]];
	const figures = flat(value, '', {});
	const lists = Object.entries(value).filter(([, list]) => Array.isArray(list) && list.length &&
		typeof list[0] === 'object');
	const isTold = Object.values(figures).some((figure) => typeof figure === 'number' && figure > 0);
	return isTold ? [['', [figures]], ...lists] : lists;
}

function showOthers(report, timeline) {
	const holder = section('details', 'Everything else', 'as rooflinectl report --format json has it');
	for (const [key, value] of Object.entries(report)) {
		if (SHOWN_ELSEWHERE.has(key) || value === null || typeof value !== 'object')
			continue;
		const parts = partsOf(value).filter(([, rows]) => rows.length);
		if (!parts.length)
			continue;
		holder.append(laterDetails(titleOf(key), parts, timeline));
	}
}

// Its tables are made when it is opened first.
function laterDetails(title, parts, timeline) {
	const count = Math.max(...parts.map(([, rows]) => rows.length));
	const made = element('details', {}, element('summary', {}, title,
		element('span', {class: 'why'}, count > 1 ? `${formatCount(count)} rows` : '')));
	made.addEventListener('toggle', () => {
		for (const [name, rows] of parts)
			made.append(name ? element('h3', {}, titleOf(name)) : '', tableOf(rows, timeline,
				{caption: name ? `${title}, ${name}` : title}));
	}, {once: true});
	return made;
}

function showLosses(report, timeline) {
	const lost = Object.entries(report.losses || {}).map(([kind, value]) => typeof value === 'object'
		? {kind, ...value} : {kind, count: value});
	const made = section('losses', 'Lost and not visible', null);
	made.append(lost.length ? tableOf(lost, timeline, {caption: 'losses'}) : element('p', {}, 'Nothing was lost.'));
	if (report.not_visible.length)
		made.append(element('h3', {}, 'This recording cannot show'),
			element('ul', {}, report.not_visible.map((line) => element('li', {}, line))));
}
