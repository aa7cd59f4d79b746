// whatif.js - the plan: its steps, and pictures of a few iterations as they were and as they would be.

// Empty where nothing is predicted of it.
function speedupText(gain, isUpTo) {
	if (!gain || gain.speedup === null)
		return '';
	const of = (value) => `${value.toFixed(2)}x`;
	return `${isUpTo ? 'up to ' : ''}${of(gain.speedup)} (${of(gain.low)} to ${of(gain.high)})`;
}

function showPlan(report, whatif, timeline) {
	if (!report.plan.length && !report.advice.length && !report.rejected.length)
		return;
	const made = section('plan', 'What would help', report.plan.length ? 're-simulated, each step with those before it'
		: report.advice.length ? 'not re-simulated' : 'nothing of what was considered');
	report.plan.forEach((step, index) => made.append(planStep(step, index,
		whatif.steps.find((picture) => picture.options === step.options), whatif, timeline)));
	report.advice.forEach((item) => made.append(adviceOf(item)));
	if (report.rejected.length)
		made.append(element('details', {}, element('summary', {}, `Considered and rejected (${report.rejected.length})`),
			tableOf(report.rejected.map(({title, reason, target}) => ({title, reason, target})), timeline,
				{caption: 'rejected changes'})));
}

function planStep(step, index, picture, whatif, timeline) {
	const gains = [['steady state', step.steady], ['whole run', step]]
		.map(([what, gain]) => [what, speedupText(gain, step.up_to || step.assumes)])
		.filter(([, text]) => text).map((texts) => texts.join(' ')).join(', ');
	return element('div', {class: 'step'},
		element('h3', {}, `${index + 1}. ${step.title}`), element('p', {class: 'gain'}, gains),
		picture ? pictureOf(picture, whatif, timeline) : null);
}

function adviceOf(item) {
	const gain = item.speedup ? `whole run ${speedupText(item, item.up_to || item.assumes)}` : `at stake ${formatTime(item.at_stake_ns)}, ` +
		`${formatShare(item.at_stake_ratio)} of the time`;
	return element('details', {class: 'advice'}, element('summary', {}, item.title, element('span', {class: 'why'}, gain)),
		element('p', {}, item.target),
		element('ul', {}, item.evidence.map((line) => element('li', {}, line))),
		item.pattern ? element('pre', {}, item.pattern) : null,
		item.risk ? element('p', {}, element('b', {}, 'Watch: '), item.risk) : null,
		item.verify ? element('p', {}, copyable(item.verify)) : null);
}

// ---- pictures ----

const SIDE_ROW = 20;
const MOST_SIDE_LABEL = 120;

// [label, spans], of the host and of the streams that something of the stretch ran in.
function sideRows(side, streams, used) {
	return [{label: 'host', kind: 'calls', spans: side.calls}].concat(used.map((stream) => (
		{label: streams[stream], kind: 'stream', spans: side.ops.filter((op) => op[5] === stream)})));
}

function pictureOf(picture, whatif, timeline) {
	const used = [...new Set(['before', 'after'].flatMap((side) => picture[side].ops.filter((op) => op[2])
		.map((op) => op[5])))].sort((a, b) => a - b);
	const longest = Math.max(picture.before.length_ns, picture.after.length_ns);
	const halves = [['as recorded', picture.before], ['re-simulated', picture.after]].map(([title, side]) =>
		({title, side, rows: sideRows(side, whatif.streams, used)}));
	const canvas = element('canvas', {class: 'whatif', role: 'img', 'aria-label':
		`${picture.title}: as recorded ${formatTime(picture.before.length_ns)}, re-simulated ` +
		`${formatTime(picture.after.length_ns)}`});
	const view = {canvas, halves, longest, timeline, places: []};
	canvas.addEventListener('pointermove', (event) => hoverPicture(view, event));
	canvas.addEventListener('pointerleave', hideTip);
	const draw = () => requestAnimationFrame(() => drawPicture(view));
	new ResizeObserver(draw).observe(document.getElementById('main'));
	darkMode.addEventListener('change', draw);
	const which = picture.iteration_count ? `iterations ${picture.first_iteration} to ` +
		`${picture.first_iteration + picture.iteration_count - 1} of ${picture.loop_iteration_count}` : 'the part that changes';
	return element('figure', {}, element('figcaption', {}, `${which}: ${formatTime(picture.before.length_ns)} becomes ` +
		`${formatTime(picture.after.length_ns)}`), canvas);
}

function drawPicture(view) {
	const {canvas, halves, longest} = view, ratio = window.devicePixelRatio || 1;
	const width = canvas.parentElement ? canvas.parentElement.clientWidth : 0;
	const height = halves.reduce((sum, half) => sum + 26 + half.rows.length * (SIDE_ROW + 3), AXIS_HEIGHT);
	if (!width)
		return;
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	canvas.style.height = `${height}px`;
	const context = canvas.getContext('2d');
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	readPageColors();
	context.fillStyle = pageColors.panel;
	context.fillRect(0, 0, width, height);
	const label = Math.min(MOST_SIDE_LABEL, width * LABEL_SHARE);
	const scale = new Scale(0, longest * 1.02, label, width - label);
	drawAxis(context, scale, 0, 0, height);
	view.places = [];
	let top = AXIS_HEIGHT;
	for (const half of halves) {
		drawHalf(view, context, half, scale, top);
		top += 26 + half.rows.length * (SIDE_ROW + 3);
	}
}

function drawHalf(view, context, half, scale, top) {
	const end = scale.x(half.side.length_ns);
	context.font = `600 ${LABEL_FONT}`;
	context.fillStyle = pageColors.ink;
	context.fillText(`${half.title}: ${formatTime(half.side.length_ns)}`, 8, top + 13);
	context.font = LABEL_FONT;
	half.rows.forEach((row, index) => {
		const y = top + 24 + index * (SIDE_ROW + 3);
		context.fillStyle = pageColors.ink;
		context.fillText(fitText(context, row.label, scale.left - 16), 8, y + SIDE_ROW / 2);
		for (const span of row.spans)
			drawSpan(view, context, row, span, scale, y);
	});
	context.fillStyle = pageColors.accent;
	context.fillRect(end, top + 20, 2, 4 + half.rows.length * (SIDE_ROW + 3));
}

function drawSpan(view, context, row, [start, length, isOwn, which, name], scale, top) {
	const left = Math.max(scale.x(start), scale.left), right = Math.min(scale.x(start + length), scale.left + scale.width);
	const width = Math.max(right - left, 1);
	if (right < left)
		return;
	context.globalAlpha = isOwn ? 1 : 0.25;
	context.fillStyle = fillOf(context, row.kind, which, width < 4);
	context.fillRect(left, top, width, SIDE_ROW);
	context.globalAlpha = 1;
	context.fillStyle = pageColors.panel;
	if (width > 3)
		context.fillRect(left + width - 1, top, 1, SIDE_ROW);
	const text = name === null ? CALL_CLASSES[which] : view.timeline.nameOf(name + 1)[0];
	view.places.push({left, right: left + width, top, text, length, start});
	if (width >= LABEL_ROOM && isOwn)
		(HATCHES[row.kind][which] ? writeOnPlate : writeInside)(context, text, left, top, width - 2, SIDE_ROW,
			inkOn(colorOf(row.kind, which)));
}

function hoverPicture(view, event) {
	const found = view.places.find((place) => event.offsetX >= place.left - 2 && event.offsetX <= place.right + 2 &&
		event.offsetY >= place.top && event.offsetY <= place.top + SIDE_ROW);
	if (found)
		showTip(event.clientX, event.clientY, linesOf([found.text, formatTime(found.length),
			`from ${formatTime(found.start)} on`]));
	else
		hideTip();
}
