/* The page as it stands in web/, over answers of the real HTTP server: what it makes of them.
 *
 * Usage: node --test, with the environment of tests/web/CMakeLists.txt */
"use strict";

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const { after, before, beforeEach, test } = require("node:test");
const { Page } = require("./document.js");

const PATHS = ["status", "peers", "findings", "devices", "events"].map((p) => "/api/v1/" + p);
const EVIL = "<img src=x onerror=alert(1)>";

let server, told, answers, page;

/* What the daemon says of a host with two rails and three peers. */
before(async () => {
	server = spawn(process.env.HTTP_SERVER_TEST, ["-", "--rails", "2", "--peers", "3"]);
	const port = await new Promise((resolve) => server.stdout.once("data", (d) => resolve(Number(d))));
	told = {};
	for (const path of PATHS)
		told[path] = await (await fetch(`http://127.0.0.1:${port}${path}`)).json();
});

after(() => server.stdin.end());

beforeEach(() => {
	answers = structuredClone(told);
});

async function open() {
	page = new Page(process.env.WEB, answers);
	await page.ready;
	return page;
}

const peers = () => answers["/api/v1/peers"].peers;
const findings = () => answers["/api/v1/findings"].findings;
const tableTexts = () => page.byId("sessions").all("tr").map((r) => r.children.map((c) => c.textContent));
const verdicts = () => tableTexts().filter((r) => r.length > 1).map((r) => r[0] + " " + r[1]);

function finding(severity, subject) {
	return { ...structuredClone(findings()[0]), severity, subject, text: subject + " is not well" };
}

test("all of what a daemon says is shown", async () => {
	await open();
	assert.equal(page.byId("stale").hidden, true, page.byId("stale").textContent);
	assert.equal(page.byId("host").textContent, told["/api/v1/status"].host);
	assert.equal(page.byId("verdict").textContent, told["/api/v1/status"].verdict);
	assert.equal(verdicts().length, peers().length);
	assert.equal(page.byId("findings").all("li").length, findings().length);
	assert.equal(page.byId("devices").all("details").length, answers["/api/v1/devices"].devices.length);
	assert.ok(page.byId("rails").all("tr").length >= 2);
	assert.ok(page.texts("events", "tr").length >= 1);
});

test("critical findings come first, and each kind as the daemon has them", async () => {
	answers["/api/v1/findings"].findings = [finding("warning", "a"), finding("critical", "b"),
		finding("warning", "c"), finding("critical", "d"), finding("critical", "e"), finding("warning", "f")];
	await open();
	assert.deepEqual(page.byId("findings").all("li").map((li) => li.children.slice(0, 2).map((c) => c.textContent).join(" ")),
		["critical b", "critical d", "critical e", "warning a", "warning c", "warning f"].map((t) => t + " is not well"));
	assert.equal(page.byId("findings-part").hidden, false);
	answers["/api/v1/findings"].findings = [];
	await page.turn();
	assert.equal(page.byId("findings-part").hidden, true);
});

test("the evidence of a finding is told with its limit and window", async () => {
	answers["/api/v1/findings"].findings = [{ ...finding("warning", "a"), rule: "loss", cause: "fabric", evidence: [
		{ name: "out_of_sequence", value: 123456.7, threshold: 100, window_seconds: 60 },
		{ name: "lanes", value: 2, threshold: null, window_seconds: 0 },
	] }];
	await open();
	const meta = page.byId("findings").all("li")[0].children[2].textContent;
	assert.match(meta, /fabric \(loss\)/);
	assert.match(meta, /out_of_sequence 123000 \(threshold 100\) in 1 min 0 s  ·  lanes 2$/);
});

test("sessions are sorted by what is wrong, else as the daemon has them", async () => {
	const order = ["ok", "unknown", "failing", "ok", "degraded", "failing"];
	peers().forEach((s, i) => Object.assign(s, { peer: "p" + i, verdict: order[i] }));
	await open();
	assert.deepEqual(verdicts(), ["failing p2", "failing p5", "degraded p4", "unknown p1", "ok p0", "ok p3"]);
});

test("a filter takes all words, in any order and case, and only what is not ok where that is wanted", async () => {
	peers().forEach((s, i) => Object.assign(s, { peer: "Host" + i % 3, rail: "rail" + i % 2, verdict: i === 3 ? "failing" : "ok" }));
	await open();
	const filter = page.byId("filter");
	filter.value = " RAIL1  host0 ";
	filter.listeners.input();
	assert.deepEqual(verdicts(), ["failing Host0"]);
	filter.value = "nobody";
	filter.listeners.input();
	assert.deepEqual(tableTexts(), [["No session matches."]]);
	filter.value = "";
	page.byId("only-bad").checked = true;
	page.byId("only-bad").listeners.change();
	assert.deepEqual(verdicts(), ["failing Host0"]);
});

test("a rate that is less than expected is told with what is expected", async () => {
	const port = answers["/api/v1/devices"].devices[0].ports[0];
	const told = () => page.byId("rails").all("tr")[0].children[7].textContent;

	port.rate_bytes_per_second = 3125000000;
	port.facts.expected_rate_bytes_per_second = null;
	await open();
	assert.equal(told(), "25 Gb/s");
	for (const [expected, text] of [[3125000000, "25 Gb/s"], [12500000000, "25 of 100 Gb/s"]]) {
		port.facts.expected_rate_bytes_per_second = expected;
		for (let i = 0; i < 5; i++)
			await page.turn();
		assert.equal(told(), text);
	}
});

test("names are put in as text", async () => {
	answers["/api/v1/status"].host = EVIL;
	peers()[0].peer = peers()[0].reason = EVIL;
	answers["/api/v1/findings"].findings = [{ ...finding("critical", "a"), text: EVIL }];
	await open();
	assert.equal(page.byId("stale").hidden, true, page.byId("stale").textContent);
	assert.equal(page.byId("host").textContent, EVIL);
	assert.ok(tableTexts().some((r) => r[1] === EVIL));
	assert.ok(page.texts("findings", "span").includes(EVIL));
});

test("a daemon that answers no more, or tells old figures, is told", async () => {
	await open();
	const status = answers["/api/v1/status"];
	delete answers["/api/v1/status"];
	await page.turn();
	assert.match(page.byId("stale").textContent, /^No answer from the daemon since /);
	assert.equal(page.byId("stale").hidden, false);
	assert.equal(page.byId("host").textContent, status.host, "what was known stays");
	answers["/api/v1/status"] = { ...status, snapshot_age_seconds: 75.5 };
	await page.turn();
	assert.equal(page.byId("stale").textContent, "The daemon answers, but its figures are 1 min 15 s old.");
	answers["/api/v1/status"] = status;
	await page.turn();
	assert.equal(page.byId("stale").hidden, true);
});

test("a counter is told with what it gained since the page opened, beyond 2^53 too", async () => {
	const grown = () => page.byId("devices").all("tr").filter((r) => r.children[1].textContent === "c")
		.map((r) => r.children[2].textContent + " " + r.children[3].textContent);
	const device = answers["/api/v1/devices"].devices[0];

	answers["/api/v1/devices"].devices = [device];
	device.counters = {};
	device.ports = [{ ...device.ports[0], counters: { c: "18446744073709551600" } }];
	await open();
	assert.deepEqual(grown(), ["18446744073709551600 0"]);
	device.ports[0].counters.c = "18446744073709551615";
	for (let i = 0; i < 5; i++)
		await page.turn();
	assert.deepEqual(grown(), ["18446744073709551615 +15"]);
	/* Another daemon in its place counts anew. */
	answers["/api/v1/status"].instance = "another";
	device.ports[0].counters.c = 3;
	await page.turn();
	assert.deepEqual(grown(), ["3 0"]);
});

test("events are shown once, the newest first, and anew where their numbers begin anew", async () => {
	const log = answers["/api/v1/events"];
	const texts = () => page.byId("events").all("tr").map((r) => r.children.at(-1).textContent);

	log.events = [{ ...log.events[0], text: "one" }, { ...log.events[0], text: "two" }];
	log.last_seq = 2;
	await open();
	log.events = [{ ...log.events[0], text: "three" }];
	log.last_seq = 3;
	await page.turn();
	assert.deepEqual(texts(), ["three", "two", "one"]);
	assert.match(page.asked.findLast((path) => path.includes("events")), /since=2&/);
	Object.assign(log, { journal: "another", events: [{ ...log.events[0], text: "first" }], last_seq: 1 });
	await page.turn();
	assert.deepEqual(texts(), ["first"]);
	assert.match(page.asked.findLast((path) => path.includes("events")), /since=0&/);
});
