// rows.js - the rows of the timeline and what is in them at a zoom; knows nothing of pixels but how many ns one has.

class Timeline {
	constructor(meta) {
		Object.assign(this, meta);
		this.windows = (this.levels.find((level) => level.windows) || {}).windows || null;
		this.exact = this.windows ? -1 : this.levels.length - 1;
		this.loading = 0;
		for (const level of this.levels)
			level.lanes = level.rows.map(() => null);
	}

	// What an entry of a row is called: [text, detail].
	nameOf(name) {
		if (!name)
			return null;
		const [text, detail] = this.names[name - 1];
		return typeof text === 'number' ? [this.kernels[text][1], detail, this.kernels[text][0]] : [text, detail];
	}

	kernelClass(name) {
		const found = this.kernels.find(([whole]) => whole === name);
		return found ? found[2] : 7;
	}

	shortName(name) {
		if (!this.shortNames)
			this.shortNames = new Map(this.kernels.map(([whole, short]) => [whole, short]));
		return this.shortNames.get(name) || name;
	}

	// The coarsest level whose columns are no wider than a pixel, or the finest.  The one with windows is only for what
	// lies in one of them.
	levelFor(nsPerPixel, from, to) {
		const at = this.levels.findIndex((level) => level.column_ns <= nsPerPixel);
		const isInside = !this.windows || this.windows.some((window) => window[0] <= from && to <= window[1]);
		const finest = this.levels.length - 1;
		return at >= 0 && at < finest ? at : isInside ? finest : finest - 1;
	}

	// The lane of a row at that level; while it is read, the nearest one that is there.  changed: called when it is.
	lane(row, level, changed) {
		const {rows, lanes} = this.levels[level] || {rows: [], lanes: []};
		if (!rows[row])
			return null;
		if (!lanes[row]) {
			lanes[row] = {isLoading: true};
			this.loading++;
			readLane(rows[row]).then((lane) => {
				lanes[row] = lane;
				this.loading--;
				changed();
			});
		}
		if (!lanes[row].isLoading)
			return lanes[row];
		for (let other = level - 1; other >= 0; other--) {
			const coarser = this.levels[other].lanes[row];
			if (coarser && !coarser.isLoading)
				return coarser;
		}
		return null;
	}

	// The row of a call by its index, and the entry in it: every call of a thread is in its row.
	callAt(call) {
		for (let row = this.rows.length - 1; row >= 0; row--) {
			const first = this.rows[row].first_call, lanes = this.levels[this.exact];
			if (first === undefined || call < first || !lanes || !lanes.rows[row])
				continue;
			return call - first < lanes.rows[row].count ? {row, index: call - first} : null;
		}
		return null;
	}

	async readSamples() {
		for (const row of this.rows)
			if (row.kind === 'samples')
				row.bytes = await inflate(row.block);
	}
}

// What stands in an entry, for people; the first line is its head.
function describeEntry(timeline, row, lane, index) {
	const start = lane.starts[index], length = lane.lengths[index], count = lane.counts[index];
	const name = timeline.nameOf(lane.names[index]);
	const when = `${formatTime(length)}, from ${formatMoment(start - timeline.first_ns, length / 100 || 1)} on`;
	const mix = mixOf(lane, index);
	if (row.kind === 'idle')
		return describeIdle(timeline, lane, index, when, mix);
	if (count > 1)
		return [`${formatCount(count)} ${row.kind === 'ranges' ? 'ranges' : row.kind === 'calls' ? 'calls' : 'operations'}`,
			when, `busy for ${formatShare(lane.busy[index] / 255)} of it`,
			...mix.map(([which, share]) => `${classTitle(timeline, row.kind, which)}: ${formatShare(share)}`)];
	const head = name ? name[2] || name[0] : row.kind === 'bursts' ? 'launched by the device' : row.label;
	return [head, when, name && name[1], row.kind === 'calls' ? CALL_CLASSES[lane.classes[index]] : null];
}

function describeIdle(timeline, lane, index, when, mix) {
	const count = lane.counts[index], length = lane.lengths[index];
	const head = count > 1 ? `${formatCount(count)} gaps` : `idle: ${timeline.causes[mix[0][0]].title}`;
	const lines = mix.map(([which, share]) =>
		`${timeline.causes[which].title}: ${formatTime(share * length * lane.busy[index] / 255)}, ${formatShare(share)}`);
	return [head, when, count > 1 ? `idle for ${formatShare(lane.busy[index] / 255)} of it` : null, ...lines,
		count > 1 ? null : timeline.causes[mix[0][0]].meaning];
}

function classTitle(timeline, kind, which) {
	if (kind === 'idle')
		return timeline.causes[which].title;
	if (kind === 'calls')
		return CALL_CLASSES[which];
	if (kind !== 'stream')
		return '';
	if (which >= 8)
		return COPY_CLASSES[which - 8];
	const kernel = timeline.kernels.find((entry) => entry[2] === which);
	return which === 7 || !kernel ? 'other kernels' : kernel[1];
}
