// plane.js - points and lines between two logarithmic axes, as SVG: each point can be reached with the keyboard.

const PLANE = {most: 1200, least: 280, height: 400, left: 84, right: 24, top: 16, bottom: 52};
const TICK_ROOM = 62; // pixels that a figure below the axis needs

class Plane {
	// room: pixels in width, so that texts are as large as all others; x, y: {low, high, title, tick(value)}
	// beside: pixels at the right for what is written there
	constructor(label, room, x, y, beside = PLANE.right) {
		const width = Math.min(Math.max(room, PLANE.least), PLANE.most);
		Object.assign(this, {x, y, width, right: width - beside});
		this.svg = drawn('svg', {class: 'plane', viewBox: `0 0 ${width} ${PLANE.height}`, width, role: 'group',
			'aria-label': label});
		this.drawAxes();
	}

	static place(axis, value, length) {
		const share = Math.log(value / axis.low) / Math.log(axis.high / axis.low);
		return Math.min(1, Math.max(0, share)) * length;
	}

	px(value) {
		return PLANE.left + Plane.place(this.x, value, this.right - PLANE.left);
	}

	py(value) {
		return PLANE.height - PLANE.bottom - Plane.place(this.y, value, PLANE.height - PLANE.top - PLANE.bottom);
	}

	drawAxes() {
		const {right} = this, bottom = PLANE.height - PLANE.bottom, powers = decades(this.x);
		const every = Math.ceil(powers.length * TICK_ROOM / (right - PLANE.left));
		powers.forEach((value, index) => {
			this.line(this.px(value), PLANE.top, this.px(value), bottom, 'grid');
			if (index % every === 0)
				this.text(this.px(value), bottom + 18, this.x.tick(value), 'tick', 'middle');
		});
		for (const value of decades(this.y)) {
			this.line(PLANE.left, this.py(value), right, this.py(value), 'grid');
			this.text(PLANE.left - 8, this.py(value) + 4, this.y.tick(value), 'tick', 'end');
		}
		this.text((PLANE.left + right) / 2, PLANE.height - 8, this.x.title, 'title', 'middle');
		const title = this.text(0, 0, this.y.title, 'title', 'middle');
		title.setAttribute('transform', `translate(16 ${(PLANE.top + bottom) / 2}) rotate(-90)`);
	}

	line(x1, y1, x2, y2, look) {
		this.svg.append(drawn('line', {x1, y1, x2, y2, class: look}));
	}

	// title: what it is, left out for what is written beside it
	curve(points, look, title) {
		this.svg.append(drawn('polyline', {points: points.map(([x, y]) => `${this.px(x)},${this.py(y)}`).join(' '),
			class: look}, title ? drawn('title', {}, title) : null));
	}

	text(x, y, text, look, anchor) {
		const made = drawn('text', {x, y, class: look, 'text-anchor': anchor || 'start'}, text);
		this.svg.append(made);
		return made;
	}

	// color: null for a ring; lines: what is told of it when it is pointed at or reached
	point(x, y, radius, color, lines) {
		const cx = this.px(x), cy = this.py(y);
		const made = drawn('circle', {cx, cy, r: radius, class: color ? 'point' : 'point ring', fill: color || 'none', tabindex: 0, role: 'img',
			'aria-label': lines.filter(Boolean).join(', ')});
		const tell = () => {
			const box = made.getBoundingClientRect();
			showTip(box.right, box.top, linesOf(lines));
		};
		for (const event of ['pointerenter', 'focus'])
			made.addEventListener(event, tell);
		for (const event of ['pointerleave', 'blur'])
			made.addEventListener(event, hideTip);
		this.svg.append(made);
	}
}

// Draws in the holder what make(width) gives, and anew when colors or the width change; returns what draws.
function keepDrawn(holder, make) {
	let width = 0;
	const draw = () => {
		width = holder.clientWidth;
		holder.replaceChildren(make(width));
	};
	darkMode.addEventListener('change', draw);
	new ResizeObserver(() => requestAnimationFrame(() => holder.clientWidth !== width && draw())).observe(holder);
	return draw;
}

function decades(axis) {
	const list = [];
	for (let power = Math.ceil(Math.log10(axis.low) - 1e-9); power <= Math.log10(axis.high) + 1e-9; power++)
		list.push(10 ** power);
	return list;
}

// From the decade below to the one above all values, at least so many; no value lies at an edge.
function logRange(values, least) {
	const known = values.filter((value) => value > 0 && Number.isFinite(value));
	if (!known.length)
		return {low: 1, high: 10 ** least};
	const low = Math.floor(Math.log10(Math.min(...known) / 1.3)), high = Math.ceil(Math.log10(1.3 * Math.max(...known)));
	return {low: 10 ** low, high: 10 ** Math.max(high, low + least)};
}
