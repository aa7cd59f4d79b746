// timeline.js - the timeline that is looked at: zooming, moving, hovering, choosing, by pointer and by keyboard.

const MOST_LABEL = 150;
const AXIS_HEIGHT = 20;
const ROW_HEIGHTS = {ranges: 18, calls: 20, idle: 24, stream: 24, bursts: 18, samples: 40};
const ROW_GAP = 4;
const GROUP_GAP = 8; // between host and GPU, and one GPU and the next
const NARROWEST_NS = 100;

// [keys, how they are shown, what they do, action(view)]: shown in the dialog of keys.js, too
const TIMELINE_KEYS = [
	[['ArrowLeft'], '\u2190', 'earlier', (view) => view.move(-0.2)],
	[['ArrowRight'], '\u2192', 'later', (view) => view.move(0.2)],
	[['+', '='], '+', 'zoom in', (view) => view.zoom(0.6)],
	[['-'], '\u2212', 'zoom out', (view) => view.zoom(1 / 0.6)],
	[['0'], '0', 'show everything', (view) => view.home()],
	[['ArrowUp'], '\u2191', 'choose the row above', (view) => view.chooseRow(-1)],
	[['ArrowDown'], '\u2193', 'choose the row below', (view) => view.chooseRow(1)],
	[['n'], 'N', 'choose the next entry of the row', (view) => view.step(1)],
	[['p'], 'P', 'choose the previous entry', (view) => view.step(-1)],
	[['Enter'], 'Enter', 'zoom to what is chosen', (view) => view.showChosen()],
];

class TimelineView {
	constructor(timeline) {
		this.timeline = timeline;
		this.canvas = element('canvas', {class: 'timeline', tabindex: 0, role: 'application',
			'aria-label': 'Timeline. Arrow left and right move, plus and minus zoom, arrow up and down choose a row, ' +
				'N and P choose the next and the previous entry, Enter zooms to it, 0 shows everything, ? tells all keys.'});
		this.status = element('span', {class: 'count'});
		this.info = element('div', {class: 'info', 'aria-live': 'polite'});
		this.placeRows();
		this.chosen = null;
		this.hovered = null;
		this.home();
		this.listen();
	}

	placeRows() {
		let top = AXIS_HEIGHT, last = null;
		this.timeline.rows.forEach((row, index) => {
			const group = row.device === undefined ? 'host' : row.device;
			top += last !== null && group !== last ? GROUP_GAP : 0;
			last = group;
			Object.assign(row, {index, top, height: ROW_HEIGHTS[row.kind]});
			top += row.height + (row.kind === 'ranges' ? 1 : ROW_GAP);
		});
		this.height = top + 2;
	}

	// ---- what is shown ----

	home() {
		const {first_ns: first, last_ns: last} = this.timeline, margin = (last - first) * 0.01 + 1;
		this.setWindow(first - margin, last + margin);
	}

	setWindow(from, to) {
		const whole = this.timeline.end_ns, margin = whole * 0.05 + 1000;
		const length = Math.min(Math.max(to - from, NARROWEST_NS), whole + 2 * margin);
		const middle = (from + to) / 2;
		this.from = Math.min(Math.max(middle - length / 2, -margin), whole + margin - length);
		this.to = this.from + length;
		this.redraw();
	}

	zoom(factor, at) {
		const anchor = at === undefined ? (this.from + this.to) / 2 : at;
		this.setWindow(anchor - (anchor - this.from) * factor, anchor + (this.to - anchor) * factor);
	}

	move(share) {
		const step = share * (this.to - this.from);
		this.setWindow(this.from + step, this.to + step);
	}

	// Shows a moment of the run with something on both sides.
	showSpan(start, length) {
		const margin = Math.max(length * 0.15, NARROWEST_NS);
		this.setWindow(start - margin, start + length + margin);
	}

	get labelWidth() {
		return Math.min(MOST_LABEL, this.width * LABEL_SHARE);
	}

	get scale() {
		return new Scale(this.from, this.to, this.labelWidth, Math.max(1, this.width - this.labelWidth));
	}

	// ---- drawing ----

	redraw() {
		if (this.isWaiting)
			return;
		this.isWaiting = true;
		requestAnimationFrame(() => {
			this.isWaiting = false;
			this.draw();
		});
	}

	fitCanvas() {
		const ratio = window.devicePixelRatio || 1;
		this.width = this.canvas.parentElement ? this.canvas.parentElement.clientWidth : 0;
		if (this.canvas.width !== Math.round(this.width * ratio)) {
			this.canvas.width = Math.round(this.width * ratio);
			this.canvas.height = Math.round(this.height * ratio);
			this.canvas.style.height = `${this.height}px`;
		}
		const context = this.canvas.getContext('2d');
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		return context;
	}

	draw() {
		const context = this.fitCanvas();
		if (!this.width)
			return;
		readPageColors();
		context.fillStyle = pageColors.panel;
		context.fillRect(0, 0, this.width, this.height);
		const {scale} = this;
		drawAxis(context, scale, this.timeline.first_ns, 0, this.height);
		for (const [from, to] of this.timeline.windows || []) {
			context.fillStyle = pageColors.accent;
			context.fillRect(scale.x(from), 0, Math.max(scale.x(to) - scale.x(from), 2), 3);
		}
		for (const row of this.timeline.rows)
			this.drawRow(context, row, scale);
		this.drawLabels(context);
		this.drawMarks(context, scale);
		this.status.textContent = `${formatTime(this.to - this.from)} shown, from ` +
			formatMoment(this.from - this.timeline.first_ns, (this.to - this.from) / 100);
	}

	levelNow() {
		return this.timeline.levelFor(this.scale.nsPerPixel, this.from, this.to);
	}

	laneOf(row) {
		return this.timeline.lane(row.index, this.levelNow(), () => this.redraw());
	}

	drawRow(context, row, scale) {
		if (row.kind === 'samples') {
			drawSamples(context, row, scale, this.timeline.end_ns, row.top, row.height);
			return;
		}
		const lane = this.laneOf(row);
		if (lane)
			new RowPainter(context, this.timeline, row, scale, row.top, row.height).draw(lane);
	}

	drawLabels(context) {
		context.fillStyle = pageColors.panel;
		context.fillRect(0, AXIS_HEIGHT, this.labelWidth - 4, this.height);
		context.font = LABEL_FONT;
		context.textBaseline = 'middle';
		for (const row of this.timeline.rows) {
			context.fillStyle = this.chosenRow === row.index ? pageColors.accent : pageColors.ink;
			context.fillText(fitText(context, row.label, this.labelWidth - 16), 8,
				row.top + (row.scale ? 10 : row.height / 2));
			if (!row.scale)
				continue;
			context.fillStyle = pageColors.quiet;
			context.fillText(fitText(context, row.scale, this.labelWidth - 16), 8, row.top + 25);
		}
	}

	// What is chosen or under the pointer, and the call that an operation was launched by.
	drawMarks(context, scale) {
		const marked = this.hovered || this.chosen;
		if (!marked)
			return;
		const row = this.timeline.rows[marked.row];
		context.strokeStyle = pageColors.accent;
		context.lineWidth = 2;
		const left = Math.max(scale.x(marked.start), scale.left - 2);
		context.strokeRect(left, row.top - 1, Math.max(scale.x(marked.start + marked.length) - left, 2), row.height + 2);
		const call = this.callOf(marked);
		if (!call || call.start > this.to || marked.start < this.from)
			return;
		context.beginPath();
		context.moveTo(Math.max(scale.x(call.start), scale.left), call.bottom);
		context.lineTo(left, row.top);
		context.stroke();
	}

	// ---- what is where ----

	entry(row, lane, index) {
		return {row: row.index, lane, index, start: lane.starts[index], length: lane.lengths[index]};
	}

	// The call that launched an operation, once both are read.
	callOf(found) {
		const call = found.lane ? found.lane.calls[found.index] : -1;
		const place = call >= 0 ? this.timeline.callAt(call) : null;
		if (!place || found.lane !== this.timeline.levels[this.timeline.exact].lanes[found.row])
			return null; // of levels with windows the calls before are not there to be counted
		const lane = this.timeline.lane(place.row, this.timeline.exact, () => this.redraw());
		const row = this.timeline.rows[place.row];
		if (!lane || lane.count <= place.index)
			return null;
		return {...this.entry(row, lane, place.index), bottom: row.top + row.height, name: lane.names[place.index]};
	}

	rowAt(y) {
		return this.timeline.rows.find((row) => y >= row.top - 1 && y < row.top + row.height + 2);
	}

	// The entry there, or the nearest within three pixels.
	entryAt(x, y) {
		const row = this.rowAt(y);
		if (!row || x < this.labelWidth)
			return null;
		const {scale} = this, time = scale.time(x);
		if (row.kind === 'samples')
			return {row: row.index, time, start: time, length: 0};
		const lane = this.laneOf(row), reach = 3 * scale.nsPerPixel;
		let best = null, distance = reach;
		if (!lane)
			return null;
		for (let i = firstFrom(lane, time - lane.longest - reach); i < lane.count && lane.starts[i] <= time + reach; i++) {
			const away = Math.max(lane.starts[i] - time, time - lane.starts[i] - lane.lengths[i], 0);
			if (away <= distance) {
				distance = away;
				best = i;
			}
		}
		return best === null ? null : this.entry(row, lane, best);
	}

	describe(found) {
		const row = this.timeline.rows[found.row];
		if (row.kind === 'samples') {
			const value = sampleAt(row, this.timeline.end_ns, found.time);
			const text = (share) => row.is_share ? formatShare(share) : formatPerSecond(share * row.full, 'B/s');
			return value ? [`${row.label}: ${text(value.mean)}`, `most ${text(value.most)}`,
				row.part && `${row.part} ${text(value.part)}`] : [`${row.label}: not sampled here`];
		}
		const lines = describeEntry(this.timeline, row, found.lane, found.index);
		const call = this.callOf(found);
		if (call)
			lines.push(`launched by ${this.timeline.nameOf(call.name)[0]}, which began ` +
				`${formatTime(found.start - call.start)} before`);
		if (found.lane.counts[found.index] > 1)
			lines.push(this.timeline.exact >= 0 ? 'zoom in to see each' : 'zoom in; each by itself only where the axis is marked');
		return lines;
	}

	choose(found) {
		this.chosen = found;
		this.chosenRow = found ? found.row : this.chosenRow;
		this.info.replaceChildren(...(found ? linesOf(this.describe(found)) : []));
		this.redraw();
	}

	// ---- pointer ----

	listen() {
		const {canvas} = this;
		canvas.addEventListener('wheel', (event) => this.onWheel(event), {passive: false});
		canvas.addEventListener('pointerdown', (event) => this.onDown(event));
		canvas.addEventListener('pointermove', (event) => this.onMove(event));
		canvas.addEventListener('pointerup', (event) => this.onUp(event));
		canvas.addEventListener('pointerleave', () => this.onLeave());
		canvas.addEventListener('dblclick', (event) => {
			const found = this.entryAt(event.offsetX, event.offsetY);
			if (found && found.length)
				this.showSpan(found.start, found.length);
		});
		canvas.addEventListener('keydown', (event) => this.onKey(event));
		new ResizeObserver(() => this.redraw()).observe(document.getElementById('main'));
		darkMode.addEventListener('change', () => this.redraw());
	}

	// Turning the wheel scrolls the page; with Ctrl or Shift, or on its side, it is the timeline's.
	onWheel(event) {
		if (event.ctrlKey || event.metaKey) {
			event.preventDefault();
			this.zoom(1.0015 ** event.deltaY, this.scale.time(event.offsetX));
		} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			this.move((event.deltaX || event.deltaY) / this.width);
		}
	}

	onDown(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.drag = {x: event.offsetX, from: this.from, to: this.to, isSelection: event.shiftKey, hasMoved: false};
	}

	onMove(event) {
		if (this.drag) {
			const moved = event.offsetX - this.drag.x;
			this.drag.hasMoved = this.drag.hasMoved || Math.abs(moved) > 3;
			this.drag.end = event.offsetX;
			if (this.drag.hasMoved && !this.drag.isSelection) {
				const step = -moved * this.scale.nsPerPixel;
				this.setWindow(this.drag.from + step, this.drag.to + step);
			}
			return;
		}
		this.hovered = this.entryAt(event.offsetX, event.offsetY);
		if (this.hovered)
			showTip(event.clientX, event.clientY, linesOf(this.describe(this.hovered)));
		else
			hideTip();
		this.redraw();
	}

	onUp(event) {
		const {drag} = this;
		this.drag = null;
		if (!drag)
			return;
		if (!drag.hasMoved) {
			this.choose(this.entryAt(event.offsetX, event.offsetY));
		} else if (drag.isSelection) {
			const times = [this.scale.time(drag.x), this.scale.time(drag.end)].sort((a, b) => a - b);
			this.setWindow(times[0], times[1]);
		}
	}

	onLeave() {
		this.hovered = null;
		hideTip();
		this.redraw();
	}

	// ---- keyboard ----

	onKey(event) {
		const row = TIMELINE_KEYS.find(([keys]) => keys.includes(event.key));
		if (!row || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		row[3](this);
	}

	showChosen() {
		if (this.chosen && this.chosen.length)
			this.showSpan(this.chosen.start, this.chosen.length);
	}

	// The next stretch in which each operation stands by itself.
	nextWindow() {
		const {windows} = this.timeline, middle = (this.from + this.to) / 2;
		const [from, to] = windows.find((window) => window[0] > middle) || windows[0];
		const length = (to - from) / 10;
		this.setWindow((from + to) / 2 - length, (from + to) / 2 + length);
	}

	chooseRow(step) {
		const count = this.timeline.rows.length, at = this.chosenRow === undefined ? (step > 0 ? -1 : 0) : this.chosenRow;
		const row = this.timeline.rows[(at + step + count) % count];
		this.chosenRow = row.index;
		const lane = row.kind === 'samples' ? null : this.laneOf(row);
		const first = lane ? firstFrom(lane, this.from) : 0;
		this.choose(lane && first < lane.count ? this.entry(row, lane, first) : null);
	}

	step(by) {
		if (!this.chosen || !this.chosen.lane)
			return this.chooseRow(1);
		const row = this.timeline.rows[this.chosen.row], lane = this.laneOf(row);
		const now = lane === this.chosen.lane ? this.chosen.index : firstFrom(lane, this.chosen.start);
		const index = Math.min(Math.max(now + by, 0), lane.count - 1);
		const found = this.entry(row, lane, index);
		if (found.start < this.from || found.start + found.length > this.to)
			this.setWindow(found.start - (this.to - this.from) / 2, found.start + (this.to - this.from) / 2);
		return this.choose(found);
	}
}
