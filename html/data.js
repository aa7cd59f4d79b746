// data.js - what the page was given: the report as JSON, and blocks of compressed numbers (html_blocks.h, html_levels.h).

function readJson(id) {
	const holder = document.getElementById(id);
	return holder ? holder.textContent : null;
}

// Moments since the epoch have more digits than a number here can hold: the page uses those relative to the first operation,
// which are exact.  Of a selection of kernels or streams nothing is asked of advice.
function readReport() {
	return {verdict: {}, plan: [], advice: [], rejected: [], next: [], gaps: [], ...JSON.parse(readJson('report'))};
}

// What stands before this script is there; what comes after it, the larger blocks, once the page is read to its end.  So
// the first paint does not wait for them.
const firstIds = new Set([...document.querySelectorAll('script[id]')].map((holder) => holder.id));
const wholePage = new Promise((done) => document.addEventListener('DOMContentLoaded', done, {once: true}));

const canInflate = typeof DecompressionStream === 'function';

async function inflate(id) {
	if (!firstIds.has(id))
		await wholePage;
	const holder = document.getElementById(id);
	const text = atob(holder.textContent);
	const packed = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++)
		packed[i] = text.charCodeAt(i);
	holder.remove();
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function readPackedJson(id) {
	return JSON.parse(new TextDecoder().decode(await inflate(id)));
}

// ---- numbers of few bytes ----

class NumberReader {
	constructor(bytes, from, length) {
		this.bytes = bytes;
		this.at = from;
		this.end = from + length;
	}

	next() {
		let byte = this.bytes[this.at++], value = byte & 0x7f, scale = 128;
		while (byte & 0x80) {
			byte = this.bytes[this.at++];
			value += (byte & 0x7f) * scale;
			scale *= 128;
		}
		return value;
	}

	nextSigned() {
		const value = this.next();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}
}

// ---- rows of a level ----

const CLASS_LIST = 32;
const SHARES = 255;
const NO_MIX = 0xffffffff;

// The columns of html_levels.h, in their order.
const COLUMN_READERS = [
	(lane, reader) => {
		let time = 0;
		for (let i = 0; i < lane.count; i++)
			lane.starts[i] = time += reader.next();
	},
	(lane, reader) => {
		for (let i = 0; i < lane.count; i++) {
			lane.lengths[i] = reader.next();
			lane.longest = Math.max(lane.longest, lane.lengths[i]);
		}
	},
	(lane, reader) => {
		for (let i = 0; i < lane.count; i++)
			lane.counts[i] = reader.next() + 1;
	},
	(lane, reader) => {
		lane.busy = lane.bytes.subarray(reader.at, reader.end);
	},
	(lane, reader) => {
		for (let i = 0; i < lane.count; i++) {
			const first = lane.bytes[reader.at++];
			if (first < CLASS_LIST) {
				lane.classes[i] = first;
				continue;
			}
			lane.mixes[i] = reader.at - 1;
			lane.classes[i] = lane.bytes[reader.at++];
			for (let k = 1; k < first - CLASS_LIST; k++) {
				reader.at++;
				reader.next();
			}
		}
	},
	(lane, reader) => {
		for (let i = 0; i < lane.count; i++)
			lane.names[i] = reader.next();
	},
	(lane, reader) => {
		let call = 0;
		for (let i = 0; i < lane.count; i++)
			lane.calls[i] = call += reader.nextSigned();
	},
];

async function readLane(entry) {
	const count = entry.count;
	const lane = {
		count, bytes: await inflate(entry.block), longest: 0,
		starts: new Float64Array(count), lengths: new Float64Array(count), counts: new Float64Array(count),
		classes: new Uint8Array(count), mixes: new Uint32Array(count).fill(NO_MIX),
		names: new Uint32Array(count), calls: new Float64Array(count),
	};
	let from = 0;
	entry.columns.forEach((length, column) => {
		COLUMN_READERS[column](lane, new NumberReader(lane.bytes, from, length));
		from += length;
	});
	return lane;
}

// [[class, share], ...] of an entry, the largest first.
function mixOf(lane, index) {
	const at = lane.mixes[index];
	if (at === NO_MIX)
		return [[lane.classes[index], 1]];
	const whole = lane.counts[index] === 1 ? lane.lengths[index] : SHARES;
	const reader = new NumberReader(lane.bytes, at + 2, 0), mix = [[lane.classes[index], 1]];
	for (let k = 1; k < lane.bytes[at] - CLASS_LIST; k++) {
		mix.push([lane.bytes[reader.at++], reader.next() / whole]);
		mix[0][1] -= mix[k][1];
	}
	return mix.sort((a, b) => b[1] - a[1]);
}

// The first entry that begins at or after the time.
function firstFrom(lane, time) {
	let low = 0, high = lane.count;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (lane.starts[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
