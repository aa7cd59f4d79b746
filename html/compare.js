// compare.js - the page of `compare --html`: two or more sides, figure by figure.

const GROUP_TITLES = {
	run: 'Run', steady_state: 'An iteration of the steady state', idle: 'Idle time by cause', kernels: 'Kernels', copies: 'Copies',
	memsets: 'Memsets', graphs: 'Graphs', api: 'API calls', ranges: 'NVTX ranges', counters: 'Hardware counters',
};

const FIGURE_FORMATS = {ns: formatTime, byte: formatBytes, byte_per_s: (value) => formatPerSecond(value, 'B/s'), count: formatCount};
const figureText = (unit, value) => value === null ? '\u2013' : FIGURE_FORMATS[unit](value);

// ---- what became of a figure ----

const CHANGE_WORDS = {not_compared: '', equal: '=', appeared: 'new', disappeared: 'gone'};
const CHANGE_MARKS = {within_noise: ' ~', noise_unknown: ' ?'};

function changeText(side) {
	if (side.change in CHANGE_WORDS)
		return CHANGE_WORDS[side.change];
	const mark = CHANGE_MARKS[side.change] || '';
	if (side.ratio === null)
		return `from 0${mark}`;
	return side.ratio >= 10 ? `${threeDigits(side.ratio)}x${mark}`
		: `${side.ratio >= 1 ? '+' : '\u2212'}${Math.abs(100 * (side.ratio - 1)).toFixed(1)}%${mark}`;
}

// What new figures and those that are gone are sorted by: the ends of the list.
const changeOrder = (side) => side.change === 'appeared' ? Infinity : side.change === 'disappeared' ? -1 : side.ratio;

const sureMark = (side) => side.change === 'less' ? '\u25bc ' : side.change === 'more' ? '\u25b2 ' : null;

// ---- verdicts ----

const CERTAINTY = {less: 'beyond noise', more: 'beyond noise', equal: 'equal', within_noise: 'within noise',
	noise_unknown: 'noise not known'};

const judgedFigure = (comparison, group) => comparison.figures.find((figure) => figure.group === group);

function speedText(comparison, side, index) {
	const figure = side.judged && judgedFigure(comparison, side.judged), value = figure && figure.sides[index];
	if (!value || !value.ratio)
		return 'not to be judged by one figure: it does other work';
	const where = side.judged === 'steady_state' ? 'in the steady state, an iteration' : 'from the first to the last operation';
	return `${threeDigits(1 / value.ratio)}x as fast ${where}: ${figureText(figure.unit, figure.sides[0].value)} to ` +
		`${figureText(figure.unit, value.value)}, ${CERTAINTY[value.change] || 'not compared'}`;
}

const listOf = (title, lines) => lines.length ? [element('h3', {}, title), element('ul', {},
	lines.map((line) => element('li', {}, line)))] : [];

function showSides(comparison) {
	const list = element('dl', {class: 'verdict'});
	comparison.sides.forEach((side, index) => list.append(element('dt', {}, side.side), element('dd', {},
		element('b', {}, side.name), index ? `: ${speedText(comparison, side, index)}` : '',
		side.recordings.length > 1 ? ` (${side.recordings.length} recordings)` : '',
		element('span', {class: 'why'}, side.limit ? `limit: ${side.limit}` : null, side.selection ? ` Only ${side.selection}.` : null))));
	const made = section('verdict', 'Verdict', 'each side beside the first, as recorded', list, timeBars(comparison));
	for (const side of comparison.sides)
		made.append(...listOf(`${side.side} does other work than ${comparison.sides[0].side}`, side.differences),
			...listOf(`What to know of ${side.side}`, side.warnings));
}

// ---- where the time went, one bar for each side ----

// Of the steady state where all sides repeat the same, else of the run: [its figures' groups, the one of its length, busy].
function shownTime(comparison) {
	const isSteady = comparison.sides.slice(1).every((side) => side.judged === 'steady_state');
	return isSteady ? {what: 'an iteration of the steady state', groups: ['steady_state'], busy: ['GPU busy'], length: 'an iteration'}
		: {what: 'the run', groups: ['run', 'idle'], busy: ['kernels', 'copies'], length: 'first to last operation'};
}

function sideParts(comparison, shown, index) {
	const parts = [];
	for (const figure of comparison.figures) {
		const value = figure.sides[index].value, cause = comparison.causes.indexOf(figure.name), busy = shown.busy.indexOf(figure.name);
		if (!value || !shown.groups.includes(figure.group) || (busy < 0 && cause < 0))
			continue;
		parts.push(busy >= 0 ? {label: figure.name, kind: 'stream', which: busy ? 9 : 0, ns: value}
			: {label: figure.name, kind: 'idle', which: cause, ns: value});
	}
	return parts.sort((a, b) => b.ns - a.ns);
}

function timeBars(comparison) {
	const shown = shownTime(comparison), length = comparison.figures.find((figure) => figure.group === shown.groups[0] &&
		figure.name === shown.length);
	if (!length)
		return null;
	const shares = length.sides.map((side, index) => index ? side.ratio || 0 : 1), longest = Math.max(...shares);
	return element('figure', {class: 'time'}, element('figcaption', {}, `where the time of the GPU went (${shown.what})`),
		comparison.sides.flatMap((side, index) => {
			const parts = sideParts(comparison, shown, index), sum = parts.reduce((total, part) => total + part.ns, 0);
			const bar = element('div', {class: 'sidebar'}, partsBar(parts));
			bar.style.width = `${100 * shares[index] / longest}%`;
			return [element('div', {}, element('b', {}, side.side), ` ${figureText('ns', length.sides[index].value)}`), bar,
				element('ul', {class: 'legend'}, parts.filter((part) => part.ns >= 0.01 * sum).map((part) => element('li', {},
					swatch(part.kind, part.which), `${part.label} `, element('b', {}, formatShare(part.ns / sum)))))];
		}));
}

// ---- figures ----

const shownName = (name) => name.replace(/\(anonymous namespace\)::/g, '');

function boundsOf(figure, index) {
	const {value, low, high} = figure.sides[index];
	const texts = value === null || low === null ? [] : [low, high].map((bound) => figureText(figure.unit, bound));
	return texts.some((text) => text !== figureText(figure.unit, value)) ? element('span', {class: 'bounds'}, texts.join(' to ')) : null;
}

function figureColumns(comparison, figures) {
	const columns = [{key: 'name', label: 'of what', isName: true, of: (figure) => `${figure.name}${figure.shape ? `, ${figure.shape}` : ''}`,
		text: shownName, title: (figure) => figure.name}];
	if (new Set(figures.map((figure) => figure.quantity)).size > 1)
		columns.push({key: 'quantity', label: 'quantity', of: (figure) => figure.quantity, text: String});
	comparison.sides.forEach(({side}, index) => {
		columns.push({key: `value ${side}`, label: side, isNumber: true, of: (figure) => figure.sides[index].value,
			text: (value, figure) => figureText(figure.unit, value), after: (figure) => boundsOf(figure, index)});
		if (index)
			columns.push({key: `change ${side}`, label: `change of ${side}`, isNumber: true,
				of: (figure) => changeOrder(figure.sides[index]), text: (value, figure) => changeText(figure.sides[index]),
				before: (figure) => sureMark(figure.sides[index])});
	});
	return columns;
}

function showFigures(comparison) {
	for (const group of new Set(comparison.figures.map((figure) => figure.group))) {
		const figures = comparison.figures.filter((figure) => figure.group === group), title = GROUP_TITLES[group] || titleOf(group);
		section(group, title, null, new Table(figures, figureColumns(comparison, figures), {caption: title}).made);
	}
}

function showComparison(comparison) {
	const names = comparison.sides.map((side) => side.name).join(' and ');
	document.title = `${names} - rooflinectl compare`;
	fill(document.getElementById('head'), {}, [element('h1', {}, names),
		element('p', {class: 'facts'}, '\u25bc less and \u25b2 more, for sure \u00b7 ~ within noise \u00b7 ? noise not known: compare ' +
			'several recordings of each side \u00b7 below a figure: the interval that it lies in')]);
	showSides(comparison);
	showFigures(comparison);
	offerKeys();
}
