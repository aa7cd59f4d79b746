// page.js - puts the page together: first what can be read at once, then what has to be unpacked.

// A mistake of ours is told where the reader sees it.
function showError(what) {
	document.getElementById('main').prepend(element('p', {class: 'error', role: 'alert'},
		`This page could not show everything: ${what}`));
}
window.addEventListener('error', (event) => showError(event.message));
window.addEventListener('unhandledrejection', (event) => showError(event.reason));

// One that fails leaves the others to be read.
function showPart(part) {
	try {
		part();
	} catch (error) {
		showError(error.message);
	}
}

function showTimeline(timeline, report) {
	const view = new TimelineView(timeline);
	const gap = report.gaps[0];
	const bar = element('div', {class: 'bar', role: 'toolbar', 'aria-label': 'Timeline'},
		button('Zoom in', () => view.zoom(0.4)), button('Zoom out', () => view.zoom(2.5)),
		button('Everything', () => view.home()),
		gap ? button('Longest gap', () => view.showSpan(timeline.first_ns + gap.start_relative_ns, gap.duration_ns)) : null,
		timeline.iteration ? button('One iteration', () => showIteration(view, timeline.iteration)) : null,
		timeline.windows ? button('Next marked stretch', () => view.nextWindow()) : null, view.status,
		element('span', {class: 'why'}, 'drag to move, Ctrl and wheel to zoom, Shift and drag to choose a stretch, ' +
			'double click on what to see whole; ? shows all keys'));
	const notes = [
		timeline.hidden_thread_count && `${timeline.hidden_thread_count} threads with the fewest calls are left out.`,
		timeline.hidden_range_count && `${formatCount(timeline.hidden_range_count)} NVTX ranges lie too deep to be shown.`,
		timeline.windows && `There are too many operations for one page to have each by itself: it has those of ` +
			`${timeline.windows.length} stretches, which are marked above the axis, around the longest gaps and all over the ` +
			'run. Elsewhere the closest zoom shows several as one.',
	].filter(Boolean);
	const made = section('timeline_section', 'Timeline', null, bar, element('div', {class: 'canvasbox'}, view.canvas), view.info,
		legendOf(timeline, report), notes.length ? element('p', {class: 'why'}, notes.join(' ')) : null);
	document.getElementById('verdict').after(made);
	view.redraw();
	timeline.readSamples().then(() => view.redraw());
	return view;
}

// One from the middle of the loop, from where the host submits it, and what follows: the GPU may be later.
function showIteration(view, [from, to]) {
	const length = Math.max(to - from, 1);
	view.setWindow(from - 0.1 * length, to + 0.5 * length);
}

// The kernels with most time, and the causes of idle time that there are, the largest first.
function legendOf(timeline, report) {
	const list = element('ul', {class: 'legend'});
	const add = (kind, which, text) => list.append(element('li', {}, swatch(kind, which), text));
	timeline.kernels.filter((kernel) => kernel[2] < 7).sort((a, b) => a[2] - b[2])
		.forEach(([, short, which]) => add('stream', which, short));
	if (timeline.kernels.some((kernel) => kernel[2] === 7))
		add('stream', 7, 'other kernels');
	report.copies.length && ['HtoD', 'DtoH', 'DtoD'].forEach((kind, at) =>
		report.copies.some((copy) => copy.kind === kind) && add('stream', 9 + at, `copy ${kind}`));
	if (report.memsets.length)
		add('stream', 13, 'memset');
	const idle = timeline.causes.map((cause, which) => ({cause, which,
		ns: report.devices.reduce((sum, device) => sum + device.idle_by_cause[cause.key], 0)}));
	idle.filter(({ns}) => ns > 0).sort((a, b) => b.ns - a.ns)
		.forEach(({cause, which}) => add('idle', which, `idle: ${cause.title}`));
	return list;
}

async function start() {
	if (readJson('comparison')) {
		showComparison({...JSON.parse(readJson('comparison')), causes: JSON.parse(readJson('causes'))});
		performance.mark('ready');
		return;
	}
	if (!canInflate) {
		document.getElementById('main').append(element('p', {}, 'This browser cannot unpack the data (it has no ' +
			'DecompressionStream); every browser since 2023 can.'));
		return;
	}
	const meta = await readPackedJson('timeline');
	const timeline = new Timeline({...meta, origin_ns: BigInt(meta.origin_ns)});
	const report = readReport();
	gapCauses = timeline.causes;
	showHead(report, timeline);
	showVerdict(report);
	const view = report.devices.length && timeline.rows.length ? showTimeline(timeline, report) : null;
	await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
	const whatif = await readPackedJson('whatif');
	const parts = [() => showPlan(report, whatif, timeline), () => showRoofline(report, timeline),
		() => showLaunchRoofline(report, timeline), () => showKernels(report, timeline), () => showGaps(report, timeline, view),
		() => showGroups(report, timeline), () => showOthers(report, timeline), () => showLosses(report, timeline), offerKeys];
	parts.forEach(showPart);
	performance.mark('ready');
}

start();
