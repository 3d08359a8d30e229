/* As much of a browser as web/page.js asks for. What it does not have cannot be used: a page that
 * took markup (innerHTML and its kin) would throw. */
"use strict";

const fs = require("node:fs");
const vm = require("node:vm");

class Node {
	#text = null;

	constructor(tag) {
		this.tag = tag;
		this.children = [];
		this.hidden = false;
		this.listeners = {};
		this.parent = null;
	}

	append(...nodes) {
		for (const n of nodes) {
			const node = n instanceof Node ? n : Object.assign(new Node("#text"), { textContent: n });
			node.parent = this;
			this.children.push(node);
		}
		this.#text = null;
	}

	replaceChildren(...nodes) {
		this.children = [];
		this.append(...nodes);
	}

	replaceWith(node) {
		node.parent = this.parent;
		this.parent.children[this.parent.children.indexOf(this)] = node;
	}

	hasChildNodes() {
		return this.children.length > 0;
	}

	addEventListener(name, f) {
		this.listeners[name] = f;
	}

	set textContent(text) {
		this.children = [];
		this.#text = String(text);
	}

	get textContent() {
		return this.#text ?? this.children.map((c) => c.textContent).join("");
	}

	/* Those below with that tag, in order. */
	all(tag) {
		return this.children.flatMap((c) => (c.tag === tag ? [c] : []).concat(c.all(tag)));
	}
}
for (const name of ["innerHTML", "outerHTML", "insertAdjacentHTML"])
	Object.defineProperty(Node.prototype, name, { set() { throw new Error(name); } });

/* The elements of index.html that have a name; others are not looked for. */
function elementsOf(html) {
	const body = new Node("body");
	for (const [, tag, id] of html.matchAll(/<(\w+)[^>]*?\bid="([\w-]+)"/g))
		body.append(Object.assign(new Node(tag), { id, value: "", checked: false }));
	return body;
}

/* A page that is open. answers: path without parameters -> what the daemon says; a path that is
 * not there is an error. turn(): it looks once more. */
class Page {
	constructor(folder, answers) {
		this.answers = answers;
		this.asked = [];
		this.body = elementsOf(fs.readFileSync(folder + "/index.html", "utf8"));
		const world = {
			Node, AbortSignal, BigInt, Map, Set, Date, console,
			document: {
				hidden: false, title: "",
				createElement: (tag) => new Node(tag),
				getElementById: (id) => this.byId(id),
			},
			fetch: (path) => this.#answer(path),
			setTimeout: (f) => this.#turned(f),
		};
		this.document = world.document;
		this.ready = new Promise((resolve) => { this.resolve = resolve; });
		vm.runInNewContext(fs.readFileSync(folder + "/page.js", "utf8"), world);
	}

	byId(id) {
		return this.body.children.find((e) => e.id === id);
	}

	async #answer(path) {
		this.asked.push(path);
		const body = this.answers[path.split("?")[0]];
		if (body === undefined)
			throw new Error("connection refused");
		return { ok: true, json: async () => structuredClone(body) };
	}

	#turned(f) {
		this.again = f;
		this.resolve();
	}

	async turn() {
		this.ready = new Promise((resolve) => { this.resolve = resolve; });
		this.again();
		await this.ready;
	}

	/* Texts of the rows of a table or list. */
	texts(id, tag) {
		return this.byId(id).all(tag).map((e) => e.textContent);
	}
}

module.exports = { Page };
