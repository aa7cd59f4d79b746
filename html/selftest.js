// selftest.js - what tests ask of the page: with #selftest in its address it uses itself, and writes what came of it
// into its root element as JSON.

async function settle(view) {
	for (let i = 0; i < 200 && (view.isWaiting || view.timeline.loading); i++)
		await new Promise((resolve) => setTimeout(resolve, 20));
}

function bodyTexts(id) {
	return [...document.querySelectorAll(`#${id} tbody tr`)].map((row) => row.cells[0].textContent);
}

function press(target, key) {
	target.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
}

async function tryTimeline(view, result) {
	await settle(view);
	const whole = view.to - view.from;
	result.drawn = view.drawCount;
	press(view.canvas, '+');
	await settle(view);
	result.zoomed = (view.to - view.from) / whole;
	const row = view.timeline.rows.find(({kind}) => kind === 'stream');
	if (row) {
		const lane = view.laneOf(row);
		view.showSpan(lane.starts[lane.count >> 1], lane.lengths[lane.count >> 1]);
		await settle(view);
		const exact = view.laneOf(row), at = firstFrom(exact, view.from);
		view.choose(view.entry(row, exact, Math.min(at, exact.count - 1)));
		result.chosen = view.info.textContent;
		result.counted = view.timeline.levels.map((level) => level.rows[row.index] ? level.rows[row.index].count : 0);
	}
	press(view.canvas, '0');
	await settle(view);
	result.home = (view.to - view.from) / whole;
}

function tryTables(result) {
	const heads = document.querySelectorAll('#kernels th button');
	result.kernels = bodyTexts('kernels');
	heads[0].click();
	result.kernelsByName = bodyTexts('kernels');
	const search = document.querySelector('#kernels input');
	if (search) {
		search.value = result.kernels[0].slice(0, 12);
		search.dispatchEvent(new Event('input'));
		result.found = bodyTexts('kernels').length;
	}
	const gap = document.querySelector('#gaps tbody tr');
	if (gap)
		press(gap, 'Enter');
	for (const details of document.querySelectorAll('details'))
		details.open = true;
}

function tryRoofline(result) {
	const selects = document.querySelectorAll('#roofline select');
	result.points = document.querySelectorAll('#roofline circle').length;
	result.switched = [...selects].map((select) => {
		select.selectedIndex = select.options.length - 1;
		select.dispatchEvent(new Event('change'));
		return document.querySelectorAll('#roofline .roof').length;
	});
}

async function selftest(view) {
	const result = {errors: pageErrors};
	try {
		if (view)
			await tryTimeline(view, result);
		const whole = view ? view.to - view.from : 0;
		if (document.getElementById('kernels'))
			tryTables(result);
		result.gapShown = view ? (view.to - view.from) / whole : null;
		tryRoofline(result);
		await new Promise((resolve) => setTimeout(resolve, 50));
		result.sections = [...document.querySelectorAll('main > section')].map(({id}) => id);
		result.paint = performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime)[0];
		result.ready = performance.getEntriesByName('ready').map((entry) => entry.startTime)[0];
	} catch (error) {
		result.errors.push(String(error.stack || error));
	}
	document.documentElement.setAttribute('data-selftest', JSON.stringify(result));
}
