// elements.js - making elements.  Texts of a recording become text nodes and nothing else.

// element('td', {class: 'number', title: name}, text or child, ...)
function element(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

const SVG = 'http://www.w3.org/2000/svg';
function drawn(tag, attributes, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(made, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith('on'))
			made.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			made.setAttribute(name, value === true ? '' : value);
	}
	for (const child of children.flat())
		if (child !== null && child !== undefined)
			made.append(child);
	return made;
}

const button = (text, action, attributes) =>
	element('button', {type: 'button', onclick: action, ...attributes}, text);

// A part of the page, with its link in the navigation.
function section(id, title, note, ...children) {
	const heading = element('h2', {}, title);
	if (note)
		heading.append(element('small', {}, note));
	document.getElementById('links').append(element('a', {href: `#${id}`}, title));
	const made = element('section', {id, 'aria-label': title}, heading, ...children);
	document.getElementById('main').append(made);
	return made;
}

// ---- what stands beside the pointer ----

function showTip(x, y, children) {
	const tip = document.getElementById('tip');
	tip.replaceChildren(...children);
	tip.hidden = false;
	const left = Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8);
	const below = y + 18;
	const top = below + tip.offsetHeight > window.innerHeight - 4 ? y - tip.offsetHeight - 12 : below;
	tip.style.left = `${Math.max(4, left)}px`;
	tip.style.top = `${Math.max(4, top)}px`;
}

function hideTip() {
	document.getElementById('tip').hidden = true;
}

// Lines of a description: ['text', 'text', ...], the first of them its head.
const linesOf = (lines) => lines.filter(Boolean).map((line, index) => element(index ? 'div' : 'strong', {}, line));
