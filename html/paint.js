// paint.js - draws rows of entries on a canvas.

const LEAST_HEIGHT = 0.15; // of a row: what is drawn lower cannot be seen
const LABEL_ROOM = 34;     // pixels that an entry has to have for its name to be written into it
const LABEL_SHARE = 0.28;  // of the width that names of rows have at most
const LABEL_FONT = '11px system-ui, sans-serif';

// A stretch of time on so many pixels.
class Scale {
	constructor(from, to, left, width) {
		Object.assign(this, {from, to, left, width});
		this.nsPerPixel = (to - from) / width;
	}

	x(time) {
		return this.left + (time - this.from) / this.nsPerPixel;
	}

	time(x) {
		return this.from + (x - this.left) * this.nsPerPixel;
	}
}

// Entries narrower than a pixel: how much of the pixel each class has.
class Column {
	constructor(painter) {
		this.painter = painter;
		this.shares = new Float64Array(32);
		this.x = -1;
	}

	add(x, share, which) {
		if (Math.floor(x) !== this.x) {
			this.flush();
			this.x = Math.floor(x);
		}
		this.shares[which] += share;
		this.total += share;
	}

	flush() {
		if (this.x >= 0 && this.total > 0) {
			const full = Math.min(1, Math.max(LEAST_HEIGHT, this.total));
			let from = 0;
			this.shares.forEach((share, which) => {
				if (!share)
					return;
				this.painter.bar(this.x, 1, from, from + full * share / this.total, which, true);
				from += full * share / this.total;
			});
		}
		this.shares.fill(0);
		this.total = 0;
		this.x = -1;
	}
}

class RowPainter {
	constructor(context, timeline, row, scale, top, height) {
		Object.assign(this, {context, timeline, row, scale, top, height});
		this.column = new Column(this);
	}

	// low and high: of the row's height
	bar(x, width, low, high, which, isNarrow) {
		this.context.fillStyle = fillOf(this.context, this.row.kind, which, isNarrow || width < 4);
		this.context.fillRect(x, this.top + this.height * (1 - high), width, this.height * (high - low));
	}

	draw(lane) {
		const {scale} = this, before = scale.from - lane.longest;
		this.column.flush();
		for (let i = firstFrom(lane, before); i < lane.count && lane.starts[i] < scale.to; i++) {
			const end = lane.starts[i] + lane.lengths[i];
			if (end < scale.from)
				continue;
			const left = Math.max(scale.left, scale.x(lane.starts[i]));
			const right = Math.min(scale.left + scale.width, scale.x(end));
			if (right - left < 1 && lane.mixes[i] === NO_MIX)
				this.column.add(Math.min(left, scale.left + scale.width - 1),
					Math.max(right - left, 0.01) * lane.busy[i] / 255, lane.classes[i]);
			else
				this.wide(lane, i, left, Math.max(right - left, 1));
		}
		this.column.flush();
	}

	wide(lane, i, left, width) {
		const full = Math.max(LEAST_HEIGHT, lane.busy[i] / 255);
		let low = 0;
		this.column.flush();
		if (lane.mixes[i] === NO_MIX) {
			this.bar(left, width, 0, full, lane.classes[i], false);
		} else {
			for (const [which, share] of mixOf(lane, i)) {
				this.bar(left, width, low, low + full * share, which, false);
				low += full * share;
			}
		}
		if (lane.counts[i] === 1)
			this.edgeAndLabel(lane, i, left, width);
	}

	edgeAndLabel(lane, i, left, width) {
		const {context} = this;
		if (width > 3) {
			context.fillStyle = pageColors.panel;
			context.fillRect(left + width - 1, this.top, 1, this.height);
		}
		if (width < LABEL_ROOM || this.height < 13)
			return;
		const name = this.timeline.nameOf(lane.names[i]);
		const text = name ? name[0] : classTitle(this.timeline, this.row.kind, lane.classes[i]);
		const isMixed = lane.mixes[i] !== NO_MIX;
		if (isMixed || HATCHES[this.row.kind][lane.classes[i]])
			writeOnPlate(context, text, left, this.top, width - 2, this.height);
		else
			writeInside(context, text, left, this.top, width - 2, this.height,
				inkOn(colorOf(this.row.kind, lane.classes[i])));
	}
}

let pageColors = {};
function readPageColors() {
	for (const name of ['panel', 'ink', 'quiet', 'line', 'accent', 'page'])
		pageColors[name] = pageColor(name);
}

const fitted = new Map();

// text, or as much of it as goes into so many pixels.
function fitText(context, text, room) {
	const key = `${Math.floor(room / 4)} ${text}`;
	if (fitted.size > 20000)
		fitted.clear();
	if (!fitted.has(key)) {
		let shownText = text;
		if (context.measureText(text).width > room) {
			let low = 0, high = text.length;
			while (low < high) {
				const middle = (low + high + 1) >> 1;
				if (context.measureText(`${text.slice(0, middle)}\u2026`).width <= room)
					low = middle;
				else
					high = middle - 1;
			}
			shownText = low > 1 ? `${text.slice(0, low)}\u2026` : '';
		}
		fitted.set(key, shownText);
	}
	return fitted.get(key);
}

function writeInside(context, text, left, top, width, height, ink) {
	context.font = LABEL_FONT;
	const shownText = fitText(context, text, width - 6);
	context.fillStyle = ink;
	context.textBaseline = 'middle';
	context.fillText(shownText, left + 3, top + height / 2 + 0.5);
}

// On hatching or several colors a text needs ground of its own.
function writeOnPlate(context, text, left, top, width, height) {
	context.font = LABEL_FONT;
	const shownText = fitText(context, text, width - 10);
	if (!shownText)
		return;
	context.fillStyle = pageColors.panel;
	context.fillRect(left + 2, top + height / 2 - 7, context.measureText(shownText).width + 6, 14);
	context.fillStyle = pageColors.ink;
	context.textBaseline = 'middle';
	context.fillText(shownText, left + 5, top + height / 2 + 0.5);
}

// ---- samples ----

// Mean and most of the columns that a pixel has, and what part of the mean is of something.
function drawSamples(context, row, scale, window, top, height) {
	const {bytes, columns} = row, columnNs = window / columns;
	if (!bytes)
		return;
	for (let x = 0; x < scale.width; x++) {
		const from = Math.max(0, Math.floor(scale.time(scale.left + x) / columnNs));
		const to = Math.min(columns, Math.max(from + 1, Math.floor(scale.time(scale.left + x + 1) / columnNs)));
		let sampled = 0, mean = 0, part = 0, most = 0;
		for (let i = from; i < to; i++) {
			sampled += bytes[i];
			mean += bytes[i] * bytes[columns + i];
			part += bytes[i] * bytes[2 * columns + i];
			most = Math.max(most, bytes[3 * columns + i]);
		}
		if (!sampled)
			continue;
		const bar = (kind, share) => {
			context.fillStyle = kind;
			context.fillRect(scale.left + x, top + height * (1 - share), 1, height * share);
		};
		bar(mixed(colorOf('samples', 1), darkMode.matches ? '#000000' : '#ffffff', 0.6), most / 255);
		bar(colorOf('samples', 1), mean / sampled / 255);
		bar(colorOf('samples', 0), part / sampled / 255);
	}
}

function sampleAt(row, window, time) {
	const at = Math.floor(time / (window / row.columns)), {bytes, columns} = row;
	if (!bytes || at < 0 || at >= columns || !bytes[at])
		return null;
	return {mean: bytes[columns + at] / 255, part: bytes[2 * columns + at] / 255, most: bytes[3 * columns + at] / 255};
}

// ---- time axis ----

function tickStep(scale, room) {
	const least = scale.nsPerPixel * room, power = 10 ** Math.floor(Math.log10(least));
	return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

// zero: the moment that is written as 0
function drawAxis(context, scale, zero, top, bottom) {
	const step = Math.max(1, tickStep(scale, scale.width < 400 ? 76 : 110));
	context.font = LABEL_FONT;
	context.textBaseline = 'middle';
	for (let tick = Math.ceil((scale.from - zero) / step) * step; tick + zero <= scale.to; tick += step) {
		const x = Math.round(scale.x(tick + zero));
		context.fillStyle = pageColors.line;
		context.fillRect(x, top, 1, bottom - top);
		context.fillStyle = pageColors.quiet;
		const text = formatMoment(tick, step);
		if (x + 4 + context.measureText(text).width <= scale.left + scale.width)
			context.fillText(text, x + 4, top + 8);
	}
}
