// verdict.js - the top of the page: what limits the run, the best change, what to do next, and where the time went.

function copyable(command) {
	const copy = button('Copy', async () => {
		try {
			await navigator.clipboard.writeText(command);
			copy.textContent = 'Copied';
		} catch {
			copy.textContent = 'Select it';
		}
	}, {class: 'copy'});
	return element('span', {class: 'command'}, element('code', {}, command), copy, runsRecorded(command)
		? element('span', {class: 'why'}, 'the program as recorded: read it before you run it') : null);
}

// Whether it runs a program; PROGRAM stands for one that was not recorded.
const runsRecorded = (command) => / -- |^ncu /.test(command) && !/ PROGRAM( |$)/.test(command);

function showHead(report, timeline) {
	const process = report.processes[0] || {}, device = report.devices[0] || {};
	const facts = [
		report.devices.length > 1 ? `${report.devices.length} GPUs: ${device.name}` : device.name,
		process.properties && process.properties.driver_name && `driver ${process.properties.driver_name}`,
		report.processes.length > 1 && `${report.processes.length} processes`,
		`${formatCount(timeline.op_count)} GPU operations`,
		device.wall_ns && formatTime(device.wall_ns),
		timeline.origin_ns > 10n ** 18n && new Date(Number(timeline.origin_ns / 1000000n)).toISOString().slice(0, 16)
			.replace('T', ' ') + ' UTC',
	].filter(Boolean);
	document.title = `${process.command || report.recording} - rooflinectl`;
	fill(document.getElementById('head'), {}, [element('h1', {}, process.command || report.recording),
		element('p', {class: 'facts'}, facts.join(' \u00b7 ')),
		report.selection ? element('p', {}, element('b', {}, 'A part of it: '), report.selection) : null]);
}

function showVerdict(report) {
	const verdict = report.verdict || {}, next = report.next && report.next[0];
	const list = element('dl', {class: 'verdict'});
	const add = (term, ...what) => list.append(element('dt', {}, term), element('dd', {}, ...what));
	if (verdict.limit)
		add('Limit', verdict.limit);
	if (verdict.change)
		add('Best change', verdict.change);
	if (next)
		add('Next', copyable(next.command), element('span', {class: 'why'}, next.why));
	const made = section('verdict', 'Verdict', null, list);
	for (const device of report.devices)
		made.append(timeBar(device, report.devices.length > 1, report.selection !== null));
	return made;
}

// ---- where the time went ----

// [{kind, which, label, ns}], the largest first: what ran, and idle time by cause.
function timeParts(times, causes) {
	const copies = times.busy_ns - times.kernel_ns;
	const parts = [{label: 'kernels', kind: 'stream', which: 0, ns: times.kernel_ns},
		{label: 'copies and memsets alone', kind: 'stream', which: 9, ns: copies}];
	causes.forEach((cause, which) => parts.push({label: cause.title, kind: 'idle', which,
		ns: times.idle_by_cause[cause.key] || 0}));
	return parts.filter((part) => part.ns > 0).sort((a, b) => b.ns - a.ns);
}

let gapCauses = [];

function timeBar(device, isOneOfMany, isPart) {
	const times = device.steady && device.steady.wall_ns ? device.steady : device;
	const what = device.steady && device.steady.wall_ns ? `steady state, ${formatTime(times.wall_ns)} of ` +
		`${formatTime(device.wall_ns)}` : `${isPart ? 'what was chosen' : 'whole run'}, ${formatTime(device.wall_ns)}`;
	const parts = timeParts(times, gapCauses);
	const legend = element('ul', {class: 'legend'}, parts.filter((part) => part.ns >= 0.002 * times.wall_ns).map((part) =>
		element('li', {}, swatch(part.kind, part.which), `${part.label} `,
			element('b', {}, formatShare(part.ns / times.wall_ns)))));
	return element('figure', {class: 'time'},
		element('figcaption', {}, `${isOneOfMany ? `GPU ${device.device}: ` : ''}where the time of the GPU went (${what})`),
		partsBar(parts), legend);
}

function partsBar(parts) {
	const canvas = element('canvas', {class: 'timebar', 'aria-hidden': 'true'});
	const sum = parts.reduce((total, part) => total + part.ns, 0);
	const draw = () => {
		const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
		const context = canvas.getContext('2d');
		let left = 0;
		canvas.width = width * ratio;
		canvas.height = height * ratio;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		for (const part of parts) {
			context.fillStyle = fillOf(context, part.kind, part.which, false);
			context.fillRect(left, 0, Math.max(width * part.ns / sum - 1, 0.5), height);
			left += width * part.ns / sum;
		}
	};
	new ResizeObserver(draw).observe(canvas);
	darkMode.addEventListener('change', draw);
	return canvas;
}
