// keys.js - the dialog that shows all keys: opened by ? or by its button in the navigation, closed by Escape.

// [where, selector: only where there is one of these, [[key, what it does], ...]]
const KEY_GROUPS = [
	['Everywhere', 'body', [
		['Tab', 'to the next button, row, point or text box; with Shift to the one before'],
		['Enter', 'press the button, open what is folded'],
		['?', 'show these keys'],
		['Esc', 'close them'],
	]],
	['In the timeline', 'canvas.timeline', TIMELINE_KEYS.map(([, key, what]) => [key, what])],
	['In a table', 'th', [
		['Enter', 'on the head of a column: sort by it, then the other way round'],
		['\u2190 \u2192', 'move a table that is wider than the page'],
	]],
	['On the row of a gap', 'tr.choosable', [['Enter', 'show it in the timeline']]],
	['In a roofline', '.plane', [['Tab', 'to the next point: what it is stands beside it']]],
];

function keysDialog() {
	const groups = KEY_GROUPS.filter(([, selector]) => document.querySelector(selector));
	const close = button('Close', () => dialog.close(), {autofocus: true});
	const dialog = element('dialog', {class: 'keys', 'aria-labelledby': 'keys_title'},
		element('div', {class: 'bar'}, element('h2', {id: 'keys_title'}, 'Keys'), close),
		groups.map(([where, , keys]) => [element('h3', {}, where), element('dl', {}, keys.map(([key, what]) =>
			[element('dt', {}, element('kbd', {}, key)), element('dd', {}, what)]).flat())]).flat());
	dialog.addEventListener('click', (event) => event.target === dialog && dialog.close()); // beside it
	return dialog;
}

// A dialog that is modal has the focus to itself, and gives it back when it is closed.
function showKeys() {
	let dialog = document.querySelector('dialog.keys');
	if (!dialog) {
		dialog = keysDialog();
		document.body.append(dialog);
	}
	if (!dialog.open)
		dialog.showModal();
}

const isTypedInto = (target) => target instanceof Element && target.closest('input, select, textarea') !== null;

function offerKeys() {
	document.getElementById('nav').append(button('Keys', showKeys, {class: 'keysbutton', 'aria-keyshortcuts': '?',
		title: 'All keys: ?'}));
	document.addEventListener('keydown', (event) => {
		if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isTypedInto(event.target))
			return;
		event.preventDefault();
		hideTip();
		showKeys();
	});
}
