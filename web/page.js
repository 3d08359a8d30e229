"use strict";
/* Everything shown comes from the JSON API and is put in as text, never as markup: names are
 * whatever a peer list or a device says. */
(() => {
	const REFRESH_MS = 2000;
	const SLOW_EVERY = 5; // rounds between two looks at devices
	const ROWS_MAX = 1000; // sessions that a browser still shows at ease
	const EVENTS_SHOWN = 50;
	const BADNESS = { failing: 0, degraded: 1, unknown: 2, ok: 3 };

	const byId = (id) => document.getElementById(id);
	const state = {
		peers: [], more: false, devices: [], events: [], lastSeq: 0, journal: null, instance: null,
		base: new Map(), open: new Set(), round: 0, lastGood: null,
	};

	function el(tag, className, text) {
		const e = document.createElement(tag);
		if (className)
			e.className = className;
		if (text !== undefined && text !== null)
			e.textContent = text;
		return e;
	}

	function badge(word) {
		const known = word in BADNESS || word === "warning" || word === "critical";
		return el("span", "badge " + (known ? word : "unknown"), word);
	}

	function cell(content, className) {
		const td = el("td", className);
		if (content instanceof Node)
			td.append(content);
		else
			td.textContent = content === null || content === undefined || content === "" ? "–" : content;
		return td;
	}

	function row(...cells) {
		const tr = el("tr");
		tr.append(...cells);
		return tr;
	}

	function emptyRow(columns, text) {
		const td = el("td", "empty", text);
		td.colSpan = columns;
		return row(td);
	}

	function roundTrip(s) {
		if (s === null || s === undefined)
			return "–";
		if (s < 1e-3)
			return (s * 1e6).toFixed(s < 1e-5 ? 1 : 0) + " µs";
		if (s < 1)
			return (s * 1e3).toFixed(s < 1e-2 ? 2 : 1) + " ms";
		return s.toFixed(2) + " s";
	}

	function percent(ratio) {
		if (ratio === null || ratio === undefined)
			return "–";
		if (ratio === 0)
			return "0 %";
		return ratio < 0.0001 ? "<0.01 %" : (ratio * 100).toFixed(ratio < 0.1 ? 2 : 1) + " %";
	}

	function duration(s) {
		if (s < 60)
			return Math.floor(s) + " s";
		if (s < 3600)
			return Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s";
		if (s < 86400)
			return Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min";
		return Math.floor(s / 86400) + " d " + Math.floor(s % 86400 / 3600) + " h";
	}

	/* The time of day, with the date when it is not today's. */
	function clock(timestamp) {
		if (timestamp === null || timestamp === undefined)
			return "–";
		const t = new Date(timestamp * 1000);
		const two = (n) => String(n).padStart(2, "0");
		const time = two(t.getHours()) + ":" + two(t.getMinutes()) + ":" + two(t.getSeconds());
		if (t.toDateString() === new Date().toDateString())
			return time;
		return t.getFullYear() + "-" + two(t.getMonth() + 1) + "-" + two(t.getDate()) + " " + time;
	}

	function rate(bytesPerSecond, expected) {
		const gigabits = (bytes) => +(bytes * 8 / 1e9).toFixed(1);
		if (bytesPerSecond === null)
			return "–";
		return gigabits(bytesPerSecond) +
			(expected > bytesPerSecond ? " of " + gigabits(expected) : "") + " Gb/s";
	}

	function fact(name, value) {
		const div = el("div");
		div.append(el("dt", "", name), el("dd", "", value));
		return div;
	}

	function showStatus(s) {
		document.title = s.host + ": " + s.verdict;
		byId("host").textContent = s.host;
		byId("verdict").replaceWith(Object.assign(badge(s.verdict), { id: "verdict" }));
		byId("reason").textContent = s.reason;
		const facts = [
			fact("sessions up", s.sessions.up + " of " + s.sessions.total),
			fact("rails up", s.rails.up + " of " + s.rails.total),
			fact("running for", duration(s.uptime_seconds)),
			fact("as of", clock(s.timestamp)),
			fact("version", s.version),
		];
		if (s.cause !== "none")
			facts.unshift(fact("cause", s.cause));
		byId("facts").replaceChildren(...facts);
	}

	/* Whole numbers as they are, others as far as they mean something. */
	function figure(v) {
		return v === null || Number.isInteger(v) ? String(v) : String(Number(v.toPrecision(3)));
	}

	function evidence(e) {
		const limit = e.threshold === null ? "" : " (threshold " + figure(e.threshold) + ")";
		return e.name + " " + figure(e.value) + limit + (e.window_seconds ? " in " + duration(e.window_seconds) : "");
	}

	function showFindings(findings) {
		const first = (f) => f.severity === "critical" ? 0 : 1;
		const items = findings.sort((a, b) => first(a) - first(b)).map((f) => {
			const li = el("li");
			const what = f.rule ? f.cause + " (" + f.rule + ")" : f.cause;
			const meta = [f.subject, what, "since " + clock(f.since), ...f.evidence.map(evidence)];
			li.append(badge(f.severity), el("span", "", f.text), el("span", "meta", meta.join("  ·  ")));
			return li;
		});
		byId("findings-part").hidden = items.length === 0;
		byId("findings").replaceChildren(...items);
	}

	function sessionsUp(rail) {
		const own = state.peers.filter((s) => s.rail === rail);
		return own.filter((s) => s.state === "up").length + " of " + own.length;
	}

	/* Ports with their rails, then rails of sessions whose port tells nothing. */
	function showRails() {
		const rows = [];
		for (const d of state.devices) {
			for (const p of d.ports) {
				const figures = row(cell(badge(p.verdict)), cell(p.rail, "name"),
					cell(d.device + " port " + p.port, "name"),
					cell(p.netdev), cell(p.link_layer), cell(p.state), cell(p.phys_state),
					cell(rate(p.rate_bytes_per_second, p.facts.expected_rate_bytes_per_second), "n"),
					cell(p.rail === null ? "–" : sessionsUp(p.rail), "n"));
				rows.push(figures);
				if (p.reason) {
					figures.className = "explained";
					rows.push(emptyRow(9, p.cause + ": " + p.reason));
				}
			}
		}
		const told = new Set(state.devices.flatMap((d) => d.ports.map((p) => p.rail)));
		const others = new Set(state.peers.map((s) => s.rail).filter((r) => r && !told.has(r)));
		for (const rail of others) {
			const device = state.peers.find((s) => s.rail === rail).device;
			rows.push(row(cell(""), cell(rail, "name"), cell(device, "name"), cell(""), cell(""), cell(""),
				cell(""), cell("", "n"), cell(sessionsUp(rail), "n")));
		}
		if (rows.length === 0)
			rows.push(emptyRow(9, "No RDMA port is known: no device on this host, or its counters cannot be read."));
		byId("rails").replaceChildren(...rows);
	}

	const OPERATIONS = { send: "Send", read: "Read", write: "Write", atomic: "Atomic" };

	/* Those that any session runs: a column of dashes says nothing. */
	function operationsShown() {
		return Object.keys(OPERATIONS).filter((op) => state.peers.some((s) => s.ops[op]));
	}

	function sessionHead(ops) {
		const title = (text, cls) => el("th", cls || "", text);
		return ["Verdict", "Peer", "Rail", "Class", "State"].map((t) => title(t)).concat(
			ops.flatMap((op) => [title(OPERATIONS[op] + " p50", "n"), title("p99", "n")]),
			[title("Loss", "n"), title("Since")]);
	}

	/* What is wrong has a row of its own below the figures: a column would be too narrow for it. */
	function sessionRows(s, ops) {
		const times = ops.map((op) => s.ops[op] || {})
			.flatMap((op) => [cell(roundTrip(op.p50_seconds), "n"), cell(roundTrip(op.p99_seconds), "n")]);
		const rail = s.peer_rail && s.peer_rail !== s.rail ? s.rail + " → " + s.peer_rail : s.rail;
		const words = s.cause === "none" ? s.reason : s.cause + (s.reason ? ": " + s.reason : "");
		const peer = cell(s.peer, "name");
		peer.title = [s.address, s.device, s.local_gid, s.remote_gid].filter(Boolean).join("  ");
		const figures = row(cell(badge(s.verdict)), peer, cell(rail, "name"), cell(s.class), cell(s.state),
			...times, cell(percent(s.loss_ratio), "n"), cell(clock(s.verdict_since), "nowrap"));
		if (!words)
			return [figures];
		const why = emptyRow(7 + 2 * ops.length, words);
		figures.className = "explained";
		return [figures, why];
	}

	function isWanted(s, words, onlyBad) {
		if (onlyBad && s.verdict === "ok")
			return false;
		const text = [s.peer, s.rail, s.peer_rail, s.class, s.state, s.verdict, s.cause, s.reason, s.address]
			.join(" ").toLowerCase();
		return words.every((w) => text.includes(w));
	}

	function showSessions() {
		const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
		const onlyBad = byId("only-bad").checked;
		const wanted = state.peers.filter((s) => isWanted(s, words, onlyBad))
			.sort((a, b) => BADNESS[a.verdict] - BADNESS[b.verdict]);
		const ops = operationsShown();
		const rows = wanted.flatMap((s) => sessionRows(s, ops));
		if (rows.length === 0)
			rows.push(emptyRow(7 + 2 * ops.length, state.peers.length > 0 ? "No session matches." : "No sessions: the peer list is empty, or no rail is up yet."));
		byId("session-head").replaceChildren(...sessionHead(ops));
		byId("sessions").replaceChildren(...rows);
		byId("session-note").textContent = state.more ?
			"only the first " + ROWS_MAX + " are shown here; all are in /api/v1/peers" : "";
	}

	/* How far a counter moved since the page first saw it: what moves now is what matters now. */
	function growth(key, value) {
		const now = BigInt(value);
		if (!state.base.has(key))
			state.base.set(key, now);
		return now - state.base.get(key);
	}

	function counterRows(device, port, counters) {
		return Object.keys(counters).sort().map((name) => {
			const grown = growth(device + "/" + port + "/" + name, counters[name]);
			const className = grown === 0n ? "n dim" : "n changed";
			return row(cell(port), cell(name, "name"), cell(String(counters[name]), "n"),
				cell(grown > 0n ? "+" + grown : String(grown), className));
		});
	}

	function deviceTable(d) {
		const table = el("table"), head = el("thead"), body = el("tbody");
		head.append(row(el("th", "", "Port"), el("th", "", "Counter"), el("th", "n", "Value"),
			el("th", "n", "Since page opened")));
		body.append(...counterRows(d.device, "", d.counters));
		for (const p of d.ports)
			body.append(...counterRows(d.device, String(p.port), p.counters));
		if (!body.hasChildNodes())
			body.append(emptyRow(4, "No counters of this device could be read."));
		table.append(head, body);
		return table;
	}

	function deviceDetails(d) {
		const details = el("details"), summary = el("summary"), inside = el("div", "inside");
		const worker = "worker " + d.worker.state + " since " + clock(d.worker.since) +
			(d.worker.restarts ? ", restarted " + d.worker.restarts + " times" : "");
		summary.append(badge(d.verdict), " ", el("strong", "", d.device), " ",
			el("span", "dim", worker), " ", el("span", "reason-text", d.reason));
		inside.append(deviceTable(d));
		details.append(summary, inside);
		details.open = state.open.has(d.device);
		details.addEventListener("toggle", () => {
			if (details.open)
				state.open.add(d.device);
			else
				state.open.delete(d.device);
		});
		return details;
	}

	function showDevices() {
		const items = state.devices.map(deviceDetails);
		if (items.length === 0)
			items.push(el("p", "dim", "No RDMA device on this host."));
		byId("devices").replaceChildren(...items);
	}

	function showEvents() {
		const rows = state.events.slice(-EVENTS_SHOWN).reverse().map((e) =>
			row(cell(clock(e.timestamp), "nowrap"), cell(e.kind), cell(e.device), cell(e.rail),
				cell(e.peer, "name"), cell(e.text, "words")));
		if (rows.length === 0)
			rows.push(emptyRow(6, "Nothing has happened yet."));
		byId("events").replaceChildren(...rows);
	}

	async function get(path) {
		const response = await fetch(path, { signal: AbortSignal.timeout(5000) });
		if (!response.ok)
			throw new Error(path + ": " + response.status);
		return response.json();
	}

	/* A daemon that restarted counts anew. */
	function noticeRestart(instance) {
		if (state.instance === instance)
			return;
		state.instance = instance;
		state.base.clear();
		state.round = 0;
	}

	async function getEvents() {
		const answer = await get(`/api/v1/events?since=${state.lastSeq}&last=${EVENTS_SHOWN}`);
		/* Numbers go on over a restart, unless the daemon could not keep them. */
		if (answer.journal !== state.journal) {
			const isFirst = state.lastSeq === 0;
			state.journal = answer.journal;
			state.events = [];
			state.lastSeq = 0;
			if (!isFirst)
				return getEvents();
		}
		state.lastSeq = answer.last_seq;
		state.events = state.events.concat(answer.events).slice(-EVENTS_SHOWN);
	}

	async function refresh() {
		const status = await get("/api/v1/status");
		noticeRestart(status.instance);
		const [peers, findings] = await Promise.all([
			get("/api/v1/peers?limit=" + ROWS_MAX), get("/api/v1/findings"), getEvents(),
		]);
		state.peers = peers.peers;
		state.more = peers.next_cursor !== null;
		if (state.round++ % SLOW_EVERY === 0) {
			state.devices = (await get("/api/v1/devices")).devices;
			showDevices();
		}
		showStatus(status);
		showFindings(findings.findings);
		showRails();
		showSessions();
		showEvents();
		return status;
	}

	function showStale(text) {
		byId("stale").hidden = text === "";
		byId("stale").textContent = text;
	}

	async function turn() {
		if (!document.hidden) {
			try {
				const status = await refresh();
				state.lastGood = Date.now();
				showStale(status.snapshot_age_seconds > 3 ?
					"The daemon answers, but its figures are " + duration(status.snapshot_age_seconds) + " old." : "");
			} catch (error) {
				showStale(state.lastGood === null ? "No answer from the daemon yet." :
					"No answer from the daemon since " + clock(state.lastGood / 1000) + ": what stands below is old.");
			}
		}
		setTimeout(turn, REFRESH_MS);
	}

	byId("filter").addEventListener("input", showSessions);
	byId("only-bad").addEventListener("change", showSessions);
	turn();
})();
