// format.js - figures for people, as base/format.h has them: three digits and a unit that fits.

const DIGITS = 3;

function threeDigits(value) {
	const size = Math.abs(value);
	const decimals = size >= 100 ? 0 : size >= 10 ? 1 : 2;
	return value.toFixed(size === 0 ? 0 : decimals);
}

// value in the largest unit of which it holds at least one: [[1, 'ns'], [1e3, 'us'], ...]
function inUnits(value, units) {
	const size = Math.abs(value);
	let chosen = units[0];
	for (const unit of units)
		if (size >= unit[0] * 0.9995)
			chosen = unit;
	const scaled = value / chosen[0];
	const text = chosen === units[0] && Number.isInteger(value) ? String(value) : threeDigits(scaled);
	return `${text} ${chosen[1]}`;
}

const TIME_UNITS = [[1, 'ns'], [1e3, 'us'], [1e6, 'ms'], [1e9, 's']];
const BYTE_UNITS = [[1, 'B'], [1024, 'KiB'], [2 ** 20, 'MiB'], [2 ** 30, 'GiB'], [2 ** 40, 'TiB']];
const PREFIXES = [[1, ''], [1e3, 'k'], [1e6, 'M'], [1e9, 'G'], [1e12, 'T'], [1e15, 'P']];

const formatTime = (ns) => inUnits(ns, TIME_UNITS);
const formatBytes = (bytes) => inUnits(bytes, BYTE_UNITS);
const formatPerSecond = (value, unit) => inUnits(value, PREFIXES.map(([size, prefix]) => [size, prefix + unit]));
const formatShare = (share) => `${threeDigits(100 * share)}%`;
const formatCount = (count) =>
	Number.isInteger(count) ? count.toLocaleString('en-US') : Math.abs(count) < 1000 ? threeDigits(count)
		: Math.round(count).toLocaleString('en-US');

// A moment on an axis: as many decimals as the step needs.  largestNs: of all that stand beside it, which have one unit.
function formatMoment(ns, stepNs, largestNs) {
	const size = Math.max(Math.abs(ns), stepNs, largestNs || 0);
	let unit = TIME_UNITS[0];
	for (const candidate of TIME_UNITS)
		if (size >= candidate[0])
			unit = candidate;
	const decimals = Math.max(0, Math.ceil(Math.log10(unit[0] / stepNs) - 1e-9));
	return `${(ns / unit[0]).toFixed(Math.min(decimals, 9))} ${unit[1]}`;
}

const isMoment = (key) => key.endsWith('_relative_ns');

const largestOf = (moments) => moments.reduce((a, b) => Math.max(a, Math.abs(b)), 0);

// What the nearest two of these are apart, or a thousandth of the largest where that is less.
function momentStep(moments) {
	const sorted = moments.filter(Number.isFinite).sort((a, b) => a - b);
	const apart = sorted.slice(1).map((moment, index) => moment - sorted[index]).filter((ns) => ns > 0);
	const least = apart.reduce((a, b) => Math.min(a, b), largestOf(sorted) / 1000);
	return Math.max(least, 1);
}

// What a value of a table is, by the unit at the end of its key.
const FORMATS = [
	[/^(?!.*count).*by_cause /, formatTime],
	[/(^| )(pid|thread|stream|context|process|rank|graph|device)$/, String],
	[/_relative_ns$/, (ns) => formatMoment(ns, momentStep([ns]))],
	[/_ns( |$)|^ns$/, formatTime],
	[/byte_per_s$/, (value) => formatPerSecond(value, 'B/s')],
	[/flop_per_s$/, (value) => formatPerSecond(value, 'FLOP/s')],
	[/bytes$/, formatBytes],
	[/share$|ratio$|occupancy$/, formatShare],
];

function formatValue(key, value) {
	if (value === null || value === undefined)
		return '';
	if (typeof value === 'boolean')
		return value ? 'yes' : 'no';
	if (Array.isArray(value))
		return value.every((item) => typeof item === 'number') ? value.join(' x ') : value.join(', ');
	if (typeof value === 'number') {
		const format = FORMATS.find(([pattern]) => pattern.test(key));
		return format ? format[1](value) : formatCount(value);
	}
	return String(value);
}

// "gap_count" as "gap count"; what the value's own unit says is left out.
const labelOfKey = (key) => key.replace(/(_relative)?_ns(?= |$)/, '').replace(/byte_per_s$/, 'rate').replace(/flop_per_s$/, 'FLOP/s')
	.replace(/^p50$/, 'median').replace(/^is_|^has_/, '').replace(/_/g, ' ');
