// colors.js - one color for one thing, in every picture of the page, as plots/style.gp has them.
//
// Kernels have Okabe and Ito's palette, causes Paul Tol's and what stays apart from it; hatching tells apart what is alike in
// gray.  In dark mode dark colors are made lighter.

const PALETTE = {
	// as enum html_op_class: seven kernels, all others, graphs, copies by direction, other copies, memsets
	stream: ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#F0E442', '#B8B8B8', '#4D4D4D',
		'#3B5B7A', '#7A94AD', '#A9BBCB', '#5E6B77', '#8C8C8C'],
	// as GAP_CAUSES
	idle: ['#CC6677', '#332288', '#1098FE', '#DDCC77', '#117733', '#769832', '#541054', '#DCBA98', '#3210BA', '#1010FE',
		'#882255', '#983210', '#10BAFE', '#5454BA', '#323210', '#88CCEE', '#44AA99', '#7654FE', '#AA4499', '#DDDDDD'],
	// as enum profile_call_class
	calls: ['#9A9A9A', '#CC6677', '#44AA99', '#882255', '#117733', '#332288', '#88CCEE', '#DCBA98', '#AA4499'],
	ranges: ['#C3CFDB', '#DCE3EA'],
	bursts: ['#7B5EA7'],
	samples: ['#4A6A8F', '#9DB4CE'],
};

// 0 none, 1 rising, 2 falling, 3 both, 4 level, 5 dots.  Those of idle are as in plots/style.gp: causes with the same one
// are far apart in gray.
const HATCHES = {
	stream: [0, 0, 0, 0, 0, 0, 0, 4, 5, 1, 2, 3, 4, 5],
	idle: [0, 0, 2, 0, 4, 3, 4, 5, 1, 2, 5, 3, 4, 0, 3, 3, 1, 5, 1, 2],
	calls: [4, 0, 3, 5, 1, 2, 4, 1, 5],
	ranges: [0, 0],
	bursts: [1],
	samples: [0, 0],
};

const CALL_CLASSES = ['other calls', 'launch', 'graph launch', 'graph management', 'copy or memset', 'wait', 'event',
	'memory', 'module load'];
const COPY_CLASSES = ['graph', 'copy HtoD', 'copy DtoH', 'copy DtoD', 'other copy', 'memset'];

const darkMode = window.matchMedia('(prefers-color-scheme: dark)');

function channels(color) {
	return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

function luminance(color) {
	const [r, g, b] = channels(color).map((value) => (value / 255) ** 2.2);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function mixed(color, other, share) {
	const to = channels(other);
	return '#' + channels(color).map((value, i) => Math.round(value + (to[i] - value) * share)
		.toString(16).padStart(2, '0')).join('');
}

function shown(color) {
	if (!darkMode.matches)
		return color;
	const light = luminance(color);
	return light < 0.05 ? mixed(color, '#ffffff', 0.42) : light < 0.15 ? mixed(color, '#ffffff', 0.25)
		: light > 0.6 ? mixed(color, '#000000', 0.2) : color;
}

const colorOf = (kind, which) => shown(PALETTE[kind][which % PALETTE[kind].length]);
const inkOn = (color) => (luminance(color) > 0.3 ? '#111111' : '#ffffff');

const pageColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// ---- hatching ----

const TILE = 8;
const STROKES = [
	[],
	[[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6]],
	[[0, 0, 8, 8], [-2, 6, 2, 10], [6, -2, 10, 2]],
	[[0, 8, 8, 0], [0, 0, 8, 8]],
	[[0, 4, 8, 4]],
	[[2, 2, 4, 2], [6, 6, 8, 6]],
];

function drawHatch(context, hatch, ink) {
	context.strokeStyle = ink;
	context.globalAlpha = 0.45;
	context.lineWidth = 1.2;
	context.beginPath();
	for (const [x1, y1, x2, y2] of STROKES[hatch]) {
		context.moveTo(x1, y1);
		context.lineTo(x2, y2);
	}
	context.stroke();
}

const fills = new Map();
darkMode.addEventListener('change', () => fills.clear());

// What a canvas fills a bar of that class with.
function fillOf(context, kind, which, isPlain) {
	const key = `${kind} ${which} ${isPlain}`;
	if (fills.has(key))
		return fills.get(key);
	const color = colorOf(kind, which), hatch = HATCHES[kind][which % HATCHES[kind].length];
	let made = color;
	if (hatch && !isPlain) {
		const tile = document.createElement('canvas');
		tile.width = tile.height = TILE;
		const on = tile.getContext('2d');
		on.fillStyle = color;
		on.fillRect(0, 0, TILE, TILE);
		drawHatch(on, hatch, inkOn(color));
		made = context.createPattern(tile, 'repeat');
	}
	fills.set(key, made);
	return made;
}

// A small square of that class, for legends.
function swatch(kind, which) {
	const square = element('canvas', {class: 'swatch', width: 28, height: 28, 'aria-hidden': 'true'});
	const paint = () => {
		const on = square.getContext('2d');
		on.setTransform(2, 0, 0, 2, 0, 0);
		on.fillStyle = fillOf(on, kind, which, false);
		on.fillRect(0, 0, 14, 14);
	};
	paint();
	darkMode.addEventListener('change', paint);
	return square;
}
