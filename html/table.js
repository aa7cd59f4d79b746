// table.js - tables that are sorted by a click on a head and searched by typing.

const ROWS_AT_ONCE = 25;

// A column: {key, label, of(row), text(value, row), isNumber, isName, isText, title(row)}, and what stands before and after the text
function columnOf(key, more) {
	return {
		key, label: labelOfKey(key), of: (row) => row[key], text: (value) => formatValue(key, value), ...more,
	};
}

// A moment: with as many digits as tell those of the rows apart.
function momentColumn(key, rows, more) {
	const moments = rows.map((row) => row[key]), step = momentStep(moments), largest = largestOf(moments);
	return columnOf(key, {text: (value) => isMissing(value) ? '' : formatMoment(value, step, largest), title_text: 'after the first operation began',
		title: (row) => isMissing(row[key]) ? null : `${formatCount(row[key])} ns`, ...more});
}

const isMissing = (value) => value === null || value === undefined;

class Table {
	// options: {caption, choose(row): what Enter or a click on a row does, sortBy: key, isDescending, look: a class}
	constructor(rows, columns, options) {
		Object.assign(this, {rows, columns, options: options || {}});
		for (const column of columns)
			if (column.isNumber === undefined)
				column.isNumber = rows.some((row) => typeof column.of(row) === 'number');
		this.shownCount = ROWS_AT_ONCE;
		this.sorting = columns.find((column) => column.key === this.options.sortBy) || null;
		this.isDescending = this.options.isDescending !== false;
		this.build();
		this.update();
	}

	build() {
		this.count = element('span', {class: 'count', 'aria-live': 'polite'});
		this.search = element('input', {type: 'search', 'aria-label': `Search ${this.options.caption}`,
			oninput: () => this.update()});
		this.heads = this.columns.map((column) => this.head(column));
		this.body = element('tbody', {});
		this.more = button('Show more', () => {
			this.shownCount += 20 * ROWS_AT_ONCE;
			this.update();
		}, {class: 'more'});
		const table = element('table', {'aria-label': this.options.caption, class: this.options.look},
			element('thead', {}, element('tr', {}, this.heads)), this.body);
		const bar = this.rows.length > 5 ? element('div', {class: 'bar'}, element('label', {}, 'Search ', this.search), this.count) : null;
		this.made = element('div', {class: 'tablebox'}, bar, element('div', {class: 'scroll', tabindex: 0,
			role: 'region', 'aria-label': this.options.caption}, table), this.more);
	}

	head(column) {
		return element('th', {scope: 'col', class: column.isNumber ? 'number' : null},
			column.label ? button(column.label, () => this.sort(column), {title: column.title_text || null}) : null);
	}

	sort(column) {
		this.isDescending = this.sorting === column ? !this.isDescending : column.isNumber;
		this.sorting = column;
		this.update();
	}

	found() {
		const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
		const rows = this.rows.filter((row) => {
			const text = words.length ? this.textOf(row) : '';
			return words.every((word) => text.includes(word));
		});
		if (!this.sorting)
			return rows;
		const {of} = this.sorting, sign = this.isDescending ? -1 : 1;
		return rows.slice().sort((a, b) => {
			const left = of(a), right = of(b);
			if (isMissing(left) || isMissing(right))
				return isMissing(left) - isMissing(right);
			return sign * (typeof left === 'number' && typeof right === 'number' ? left - right
				: String(left).localeCompare(String(right)));
		});
	}

	textOf(row) {
		return this.columns.map((column) => `${column.of(row)} ${column.text(column.of(row), row)}`).join(' ').toLowerCase();
	}

	update() {
		const rows = this.found();
		this.heads.forEach((head, index) => {
			const isSorted = this.columns[index] === this.sorting;
			head.setAttribute('aria-sort', isSorted ? this.isDescending ? 'descending' : 'ascending' : 'none');
		});
		this.body.replaceChildren(...rows.slice(0, this.shownCount).map((row) => this.row(row)));
		this.count.textContent = rows.length === this.rows.length ? `${formatCount(rows.length)} rows`
			: `${formatCount(rows.length)} of ${formatCount(this.rows.length)} rows`;
		this.more.hidden = rows.length <= this.shownCount;
	}

	row(row) {
		const {choose} = this.options;
		const cells = this.columns.map((column) => this.cell(column, row));
		if (!choose)
			return element('tr', {}, cells);
		return element('tr', {class: 'choosable', tabindex: 0, onclick: () => choose(row),
			onkeydown: (event) => event.key === 'Enter' && choose(row)}, cells);
	}

	cell(column, row) {
		const value = column.of(row), text = column.text(value, row);
		const attributes = {class: column.isNumber ? 'number' : column.isName ? 'name' : column.isText || String(text).length > 40 ? 'text' : null};
		if (column.title)
			attributes.title = column.title(row);
		return element('td', attributes, column.before ? column.before(row) : null, column.isName ? breakable(cutInside(text)) : text,
			column.bar ? shareBar(column.bar(row)) : null, column.after ? column.after(row) : null);
	}
}

const LONGEST_NAME = 160; // in a table, where it is also shown by pointing at it

// Names of kernels differ at their ends as often as at their beginnings.
function cutInside(text) {
	const half = LONGEST_NAME / 2, name = isMissing(text) ? '' : String(text);
	return name.length > LONGEST_NAME ? `${name.slice(0, half)}...${name.slice(3 - half)}` : name;
}

// A line of a name ends behind a mark rather than within a word.
function breakable(name) {
	return name.split(/(?<=[_<,:])/).flatMap((part, index) => index ? [element('wbr', {}), part] : [part]);
}

function shareBar(share) {
	const inner = element('span', {});
	inner.style.width = `${Math.min(100, Math.max(0, 100 * share))}%`;
	return element('span', {class: 'sharebar', 'aria-hidden': 'true'}, inner);
}

// ---- tables of whatever a section has ----

// A moment is in the data twice: since the epoch, for programs, and relative to the first operation, for readers.
const isForPrograms = (key, row) => key.endsWith('_ns') && key.replace(/_ns$/, '_relative_ns') in row;

// {a: 1, b: {c: 2}} as {a: 1, 'b c': 2}: objects in a row become columns.
function flat(row, prefix, out) {
	for (const [key, value] of Object.entries(row)) {
		if (isForPrograms(key, row))
			continue;
		const name = prefix ? `${prefix} ${key}` : key;
		if (value && typeof value === 'object' && !Array.isArray(value))
			flat(value, name, out);
		else if (!(Array.isArray(value) && value.some((item) => item && typeof item === 'object')))
			out[name] = value;
	}
	return out;
}

const SAYS_NOTHING = (value) => isMissing(value) || value === 0 || value === '' || value === false ||
	(Array.isArray(value) && !value.length);

// Columns that are empty in every row are left out.
function tableOf(rows, timeline, options) {
	const flatRows = rows.map((row) => row && typeof row === 'object' ? flat(row, '', {}) : {value: row});
	const keys = [...new Set(flatRows.flatMap((row) => Object.keys(row)))]
		.filter((key) => flatRows.some((row) => !SAYS_NOTHING(row[key])));
	if (keys.length > WIDEST && flatRows.length <= FEW)
		return uprightTable(flatRows, keys, options);
	const columns = keys.map((key) => {
		const isName = /name$|^mangled$|command/.test(key);
		if (isMoment(key))
			return momentColumn(key, flatRows);
		return columnOf(key, {isName, text: (value) => isName && value ? timeline.shortName(value) : formatValue(key, value),
			title: isName ? (row) => row[key] : null});
	});
	return new Table(flatRows, columns, options).made;
}

const WIDEST = 12; // columns that are read from left to right
const FEW = 4;

// A line for each key and a column for each row.
function uprightTable(rows, keys, options) {
	const columns = [{key: 'what', label: '', of: (key) => labelOfKey(key), text: (value) => value},
		...rows.map((row, index) => ({key: `row${index}`, label: rows.length > 1 ? String(index) : '',
			of: (key) => row[key], text: (value, key) => formatValue(key, value), isNumber: false}))];
	return new Table(keys, columns, {...options, look: 'upright'}).made;
}
