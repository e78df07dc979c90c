// What is drawn in the lanes.
// What faults cover.
function drawFaultAreas() {
    for (const f of ownFaults) {
        if (!seen(f.from, f.to ?? f.from)) continue;
        const lane = f.client !== null ? clientLanes[f.client] : serverLanes[f.server];
        const dies = f.what === 'killed';
        const x0 = clampX(x(f.from)),
            x1 = dies ? width + 20 : f.to === null ? x0 : clampX(x(Math.min(f.to, stopped)));
        const tip = () => [
            f.what,
            `${f.client !== null ? client(f.client) : server(f.server)}, at ${moment(f.from)}`,
            ...(f.to !== null ? [`for ${length(f.to - f.from)}, until ${moment(f.to)}`] : [])
        ];
        if (x1 > x0) {
            g.fillStyle = colour['fault-soft'];
            g.globalAlpha = 0.28;
            g.fillRect(x0, lane.top, Math.max(x1 - x0, 1.5), lane.bottom - lane.top);
            g.globalAlpha = 0.55;
            g.fillStyle = patterns.fault;
            g.fillRect(x0, lane.top, Math.max(x1 - x0, 1.5), lane.bottom - lane.top);
            g.globalAlpha = 1;
        }
        g.fillStyle = colour.fault;
        g.fillRect(x0 - 1, lane.top, 2, lane.bottom - lane.top);
        hits.push({box: [x0 - 3, lane.top, Math.max(x1, x0 + 3), lane.bottom], tip, item: f});
    }
}
function drawFaultLabels() {
    for (const f of ownFaults) {
        if (!seen(f.from, f.to ?? f.from)) continue;
        const lane = f.client !== null ? clientLanes[f.client] : serverLanes[f.server];
        const x0 = x(f.from);
        const baseline = f.client !== null ? lane.top + 14 : lane.top + 16;
        const sign = x0 < gutter ? '‹ ' : '⚡ ',
            style = {weight: '600', halo: colour.lane};
        for (const text of [named(f), f.what])
            if (
                label(sign + text, Math.max(x0 + 4, gutter + 5), baseline, colour.fault, style) ||
                label(sign + text, x0 - 4, baseline, colour.fault, {...style, align: 'right'})
            )
                break;
    }
    const room = Math.max(1, Math.floor((network.bottom - network.top - 12) / 19));
    const shown = [];
    for (const f of linkFaults) {
        const to = f.to ?? f.from;
        if (!seen(f.from, to)) continue;
        const y = network.top + 8 + (f.row % room) * 19;
        const x0 = clampX(x(f.from)),
            x1 = clampX(x(Math.min(to, Math.max(stopped, f.from))));
        const tip = () => [
            f.what,
            `between ${listed('client', f.clients)} and ${listed('server', f.servers)}`,
            `at ${moment(f.from)}`,
            ...(f.to !== null ? [`for ${length(f.to - f.from)}, until ${moment(f.to)}`] : [])
        ];
        g.fillStyle = colour['fault-soft'];
        bar(x0, x1, y, 16);
        g.fill();
        g.strokeStyle = colour.fault;
        g.stroke();
        hits.push({box: [x0 - 3, y, Math.max(x1, x0 + 5), y + 16], tip, item: f});
        occupied(Math.max(x0, gutter), y, x1, y + 15);
        shown.push([f, x0, x1, y]);
    }
    for (const [f, x0, x1, y] of shown) {
        g.font = fontOf(11, '600');
        if (Math.min(x1, width) - Math.max(x0, gutter) > g.measureText(f.title).width + 12) {
            inBar([f.title], x0, x1, y + 12, colour.ink);
            continue;
        }
        for (const text of [f.title, f.what])
            if (
                label(text, Math.max(x1 + 7, gutter + 5), y + 12, colour.fault, {weight: '600', halo: colour.panel}) ||
                label(text, x0 - 6, y + 12, colour.fault, {weight: '600', halo: colour.panel, align: 'right'})
            )
                break;
    }
}

const dashes = {acquire: [], confirm: [1, 1], extend: [7, 3], release: [2, 3], inspect: [9, 2, 2, 2], mark: [9, 2, 2, 2], admit: [9, 2, 2, 2]};

function drawMessages() {
    const visible = data.messages.filter(m =>
        seen(m.sent, Math.max(m.delivered ?? 0, m.cut ?? 0, m.answered ?? 0, m.arrived ?? 0, m.sent, ...m.haunted))
    );
    const faint = visible.length > 260 ? 0.35 : visible.length > 90 ? 0.6 : 0.9;
    for (const m of visible) {
        const [what, , value] = m.commands[0] ?? ['acquire', '', ''];
        const up = clientLanes[m.client].port,
            down = serverLanes[m.server].port;
        const ink = colourOf(value, m.client);
        const isHot = hot && (hot.item === m || (hot.value !== undefined && m.commands.some(c => c[2] === hot.value)));
        const x0 = x(m.sent);
        g.strokeStyle = g.fillStyle = ink;
        g.globalAlpha = isHot ? 1 : hot?.value !== undefined ? faint * 0.4 : faint;
        const line = (ax, ay, bx, by, thick, dash) => {
            g.lineWidth = isHot ? thick + 1 : thick;
            g.setLineDash(dash);
            g.beginPath();
            g.moveTo(ax, ay);
            g.lineTo(bx, by);
            g.stroke();
            g.setLineDash([]);
            hits.push({line: [ax, ay, bx, by], tip: () => tipOf(m), item: m, value});
        };
        const head = (ax, ay, bx, by) => {
            const angle = Math.atan2(by - ay, bx - ax);
            g.beginPath();
            g.moveTo(bx, by);
            for (const d of [-0.38, 0.38]) g.lineTo(bx - 8 * Math.cos(angle + d), by - 8 * Math.sin(angle + d));
            g.closePath();
            g.fill();
        };
        const cross = (cx, cy) => {
            g.lineWidth = 2;
            g.beginPath();
            for (const d of [-1, 1]) {
                g.moveTo(cx - 4, cy - 4 * d);
                g.lineTo(cx + 4, cy + 4 * d);
            }
            g.stroke();
            hits.push({box: [cx - 6, cy - 6, cx + 6, cy + 6], tip: () => tipOf(m), item: m, value});
        };
        if (m.arrived !== null) {
            const x1 = x(m.arrived);
            line(x0, up, x1, down, 1.5, dashes[what]);
            head(x0, up, x1, down);
            m.middle = [(x0 + x1) / 2, (up + down) / 2];
        } else if (m.cut !== null) {
            const share = m.cut > m.sent ? 0.5 : 0.12;
            const cx = x(m.cut),
                cy = up + (network.bottom - up) * share;
            line(x0, up, cx, cy, 1.3, dashes[what]);
            cross(cx, cy);
        } else {
            line(x0, up, x(Math.min(Math.max(m.sent, data.end), stopped)), (up + down) / 2, 1.3, dashes[what]);
        }
        if (m.answered !== null) {
            const x2 = x(m.answered);
            if (m.delivered !== null) {
                const x3 = x(m.delivered);
                line(x2, down, x3, up, 0.9, dashes[what]);
                const good = m.answers.every(a => a.startsWith('granted')),
                    refused = m.answers.some(a => a === 'refused');
                g.lineWidth = 1.5;
                if (good || refused) {
                    g.beginPath();
                    g.arc(x3, up, 3.4, 0, 7);
                    g.fillStyle = good ? ink : colour.lane;
                    g.fill();
                    g.stroke();
                } else cross(x3, up);
            } else if (m.cut !== null) {
                const cx = x(m.cut),
                    cy = (network.top + down) / 2;
                line(x2, down, cx, cy, 0.9, dashes[what]);
                cross(cx, cy);
            }
        }
        for (const at of m.haunted) {
            const hx = x(at);
            line(x0, up, hx, down, 0.8, [1, 4]);
            g.lineWidth = 1.5;
            g.strokeStyle = colour.fault;
            g.beginPath();
            g.rect(hx - 4, down - 4, 8, 8);
            g.stroke();
            hits.push({
                box: [hx - 6, down - 6, hx + 6, down + 6],
                tip: () => ['executed, and nobody knows', moment(at), ...tipOf(m)],
                item: m,
                value
            });
        }
        g.globalAlpha = 1;
        g.lineWidth = 1;
    }
    return visible;
}
// What the messages say, if there are few.
function drawMessageLabels(visible) {
    if (visible.length > 80) return;
    const said = new Set();
    for (const m of visible) {
        if (m.arrived === null || !m.commands.length || x(m.arrived) < gutter) continue;
        const burst = `${m.client} ${m.sent} ${m.commands[0]}`;
        if (said.has(burst)) continue;
        said.add(burst);
        const up = Math.max(clientLanes[m.client].port, network.top),
            down = network.bottom;
        const x0 = x(m.sent),
            x1 = x(m.arrived);
        const from = clientLanes[m.client].port,
            to = serverLanes[m.server].port;
        const [what, , value] = m.commands[0];
        const text = `${what} ${value}` + (m.commands.length > 1 ? ` +${m.commands.length - 1}` : '');
        for (const share of [0.3, 0.55, 0.8]) {
            const y = up + (down - up) * share;
            const px = x0 + ((x1 - x0) * (y - from)) / (to - from);
            if (label(text, px + 6, y + 4, colourOf(value, m.client), {size: 10.5, halo: colour.panel})) break;
        }
    }
}
function tipOf(m) {
    const lines = [`${client(m.client)} → ${server(m.server)}`];
    for (const [i, [what, key, value, ttl, tokens]] of m.commands.entries()) {
        const name = key ? ` “${key}”` : '';
        const lasts = what === 'acquire' || what === 'extend' ? ', ttl ' + ttl + ' ms' : '';
        lines.push(`${what}${name} ${value}${lasts}${tokens ? ', ' + tokens : ''}${m.answers[i] ? ': ' + m.answers[i] : ''}`);
    }
    lines.push(`sent at ${moment(m.sent)}`);
    if (m.arrived !== null) lines.push(`arrived after ${length(m.arrived - m.sent)}`);
    if (m.answered !== null) lines.push(`answered at ${moment(m.answered)}`);
    if (m.delivered !== null)
        lines.push(`answer arrived after ${length(m.delivered - m.answered)} (${length(m.delivered - m.sent)} in all)`);
    if (m.cut !== null) lines.push(m.cut === m.sent ? 'the connection was down' : `its connection ended after ${length(m.cut - m.sent)}`);
    for (const at of m.haunted) lines.push(`executed at ${moment(at)}, without anybody knowing`);
    return lines;
}

function outline(item, x0, x1, y, h) {
    const isBad = item === story.key || (story.band?.overlap && (item === story.band.overlap.first || item === story.band.overlap.second));
    if (!isBad && !(hot && hot.value !== undefined && hot.value === item.value)) return;
    g.strokeStyle = isBad ? colour.bad : colour.ink;
    g.lineWidth = 2;
    bar(x0 - 1, x1 + 1, y - 1, h + 2);
    g.stroke();
    g.lineWidth = 1;
}

function drawClients() {
    for (const a of tries) {
        if (!seen(a.from, a.to)) continue;
        const y = clientLanes[a.client].rowsTop + a.row * rowHeight + 4;
        const x0 = clampX(x(a.from)),
            x1 = clampX(x(a.to));
        g.strokeStyle = colourOf(a.value, a.client);
        g.fillStyle = colour.lane;
        bar(x0, x1, y + 0.5, 15);
        g.fill();
        g.setLineDash([3, 2]);
        g.stroke();
        g.setLineDash([]);
        g.font = fontOf(10.5);
        if (x1 - x0 > 44) inBar([`tries for “${a.name}” (${a.value})`, `tries (${a.value})`, a.value], x0, x1, y + 12, colour.ink, '');
        hits.push({
            box: [x0, y, Math.max(x1, x0 + 3), y + 16],
            item: a,
            value: a.value,
            tip: () => [
                `${client(a.client)} tries for “${a.name}”`,
                `value ${a.value}, ttl ${a.ttl} ms`,
                `${moment(a.from)}, for ${length(a.to - a.from)}`,
                a.lease ? 'acquired' : 'did not become a lease'
            ]
        });
    }
    for (const l of data.leases) {
        const end = Math.max(l.to, l.validTo);
        if (!seen(l.from, end)) continue;
        const y = clientLanes[l.client].rowsTop + l.row * rowHeight + 4,
            h = 16;
        const ink = colourOf(l.value, l.client);
        const x0 = clampX(x(l.from)),
            x1 = clampX(x(end));
        // Held, but not valid.
        g.fillStyle = colour.key;
        bar(x0, x1, y, h);
        g.fill();
        if (l.to > l.validTo) {
            g.fillStyle = patterns.stale;
            g.globalAlpha = 0.7;
            g.fill();
            g.globalAlpha = 1;
        }
        g.strokeStyle = ink;
        g.stroke();
        for (const [from, to] of l.valid) {
            if (from < stopped) {
                g.fillStyle = ink;
                bar(clampX(x(from)), clampX(x(Math.min(to, stopped))), y, h);
                g.fill();
            }
            if (to > stopped) {
                g.fillStyle = ink;
                g.globalAlpha = 0.72;
                g.fillRect(clampX(x(Math.max(from, stopped))), y, clampX(x(to)) - clampX(x(Math.max(from, stopped))), h);
                g.globalAlpha = 1;
            }
        }
        // Until when it is valid, and how that moved.
        const rail = y + h + 3.5;
        g.strokeStyle = ink;
        g.fillStyle = ink;
        const railEnd = Math.min(l.until, Math.max(l.validTo, l.from));
        g.beginPath();
        g.moveTo(x0, rail);
        g.lineTo(clampX(x(railEnd)), rail);
        g.stroke();
        l.validUntil.forEach(([at, until], i) => {
            const ux = x(until);
            if (until <= end && ux > gutter - 4 && ux < width + 4) g.fillRect(ux - 1, y + h, 2, 6);
            const ax = x(at);
            if (i > 0 && at <= end && ax > gutter - 4 && ax < width + 4) {
                g.beginPath();
                g.moveTo(ax, y);
                g.lineTo(ax - 4, y - 6);
                g.lineTo(ax + 4, y - 6);
                g.closePath();
                g.fill();
            }
        });
        outline(l, x0, x1, y, h);
        const solid = l.valid.length ? clampX(x(l.validTo)) : x1;
        inBar(
            [
                `${l.from < timeAt(gutter) ? '‹ ' : ''}holds “${l.name}” (${l.value}) until ${moment(l.until)}`,
                `holds “${l.name}” (${l.value})`,
                `“${l.name}” ${l.value}`,
                l.value
            ],
            x0,
            solid,
            y + 12,
            colour.onBar
        );
        hits.push({
            box: [x0, y - 2, Math.max(x1, x0 + 3), y + h + 7],
            item: l,
            value: l.value,
            tip: () => [
                `${client(l.client)} holds “${l.name}”`,
                `value ${l.value || 'unknown'}`,
                `acquired at ${moment(l.from)}`,
                `valid until ${moment(l.until)}`,
                ...(l.validUntil.length > 1 ? [`extended ${l.validUntil.length - 1} ×, at first until ${moment(l.validUntil[0][1])}`] : []),
                ...(l.letGo !== null ? [`release began at ${moment(l.letGo)}`] : []),
                l.ended !== null ? `ended at ${moment(l.ended)}: ${l.why}` : 'never ended'
            ]
        });
    }
}

function drawServers() {
    for (const k of data.keys) {
        const open = k.to === null;
        const to = open ? Math.max(Math.min(k.expires ?? last, last), data.end) : k.to;
        if (!seen(k.from, to)) continue;
        const y = serverLanes[k.server].rowsTop + Math.max(0, names.indexOf(k.name)) * 20,
            h = 15;
        const x0 = clampX(x(k.from)),
            x1 = clampX(x(to));
        const ink = colourOf(k.value);
        g.fillStyle = ink;
        bar(x0, clampX(x(Math.min(to, Math.max(stopped, k.from)))), y, h);
        g.fill();
        if (to > stopped) {
            g.globalAlpha = 0.45;
            const s = clampX(x(stopped));
            g.fillRect(s, y, Math.max(0, x1 - s), h);
            g.globalAlpha = 1;
        }
        outline(k, x0, x1, y, h);
        inBar([`${k.name} = ${k.value}`, k.value], x0, clampX(x(Math.min(to, stopped))), y + 11.5, colour.onBar);
        hits.push({
            box: [x0, y, Math.max(x1, x0 + 3), y + h],
            item: k,
            value: k.value,
            tip: () => [
                `${server(k.server)}: ${k.name} = ${k.value}`,
                `since ${moment(k.from)}`,
                open
                    ? `there to the end${k.expires !== null ? ', would expire about ' + moment(k.expires) : ''}`
                    : `until ${moment(k.to)}: ${k.why}`
            ]
        });
    }
}

function drawNotes() {
    for (const n of data.notes) {
        if (!seen(n.at, n.at)) continue;
        const lane = clientLanes[n.client];
        const px = x(n.at),
            y = lane.top + 10;
        const ink = /: done$/.test(n.text) ? colour.dim : colour.ink;
        g.fillStyle = ink;
        g.beginPath();
        g.moveTo(px, y - 4);
        g.lineTo(px + 4, y);
        g.lineTo(px, y + 4);
        g.lineTo(px - 4, y);
        g.closePath();
        g.fill();
        occupied(px - 4, y - 4, px + 4, y + 4);
        hits.push({box: [px - 5, y - 6, px + 5, y + 6], tip: () => [client(n.client), n.text, moment(n.at)], item: n});
    }
}
function drawNoteLabels() {
    for (const n of data.notes) {
        if (!seen(n.at, n.at)) continue;
        const px = x(n.at),
            y = clientLanes[n.client].top + 14;
        const ink = /: done$/.test(n.text) ? colour.dim : colour.ink;
        label(n.text, px + 8, y, ink, {size: 10.5, halo: colour.lane}) ||
            label(n.text, px - 8, y, ink, {size: 10.5, align: 'right', halo: colour.lane});
    }
}

function drawBands() {
    for (const o of overlaps) {
        if (o.judged || !seen(o.from, o.to)) continue;
        const x0 = clampX(x(o.from)),
            x1 = clampX(x(o.to));
        g.fillStyle = colour['fault-soft'];
        g.globalAlpha = 0.35;
        g.fillRect(x0, axisHeight + stripHeight, Math.max(2, x1 - x0), lanesHeight);
        g.globalAlpha = 1;
    }
    if (Number.isFinite(stopped) && seen(stopped, last * 2 + 1)) {
        const px = Math.max(x(stopped), gutter);
        g.fillStyle = patterns.after;
        g.globalAlpha = 0.5;
        g.fillRect(px, axisHeight + stripHeight, width - px, lanesHeight);
        g.globalAlpha = 1;
    }
    if (story.band && seen(story.band.from, story.band.to)) {
        const x0 = clampX(x(story.band.from)),
            x1 = Math.max(clampX(x(story.band.to)), x0 + 3);
        g.fillStyle = colour.bad;
        g.globalAlpha = dark.matches ? 0.28 : 0.2;
        g.fillRect(x0, axisHeight, x1 - x0, lanesHeight - axisHeight - endHeight);
        g.globalAlpha = 1;
    }
}
function pill(text, middle, ink, on) {
    g.font = fontOf(12.5, '600');
    const w = g.measureText(text).width + 16;
    const left = Math.min(Math.max(middle - w / 2, gutter + 3), width - w - 3);
    const y = axisHeight + 3;
    if (taken.some(b => b[0] < left + w && b[2] > left && b[1] < y + 18 && b[3] > y)) return;
    g.fillStyle = ink;
    g.beginPath();
    g.roundRect(left, y, w, 18, 9);
    g.fill();
    g.fillStyle = on;
    g.fillText(text, left + 8, y + 13.5);
    occupied(left - 4, y, left + w + 4, y + 18);
}
function drawBandLabels() {
    const inside = (a, b) => (Math.max(clampX(x(a)), gutter) + Math.min(clampX(x(b)), width)) / 2;
    if (story.band && seen(story.band.from, story.band.to)) {
        for (const t of [story.band.from, story.band.to]) {
            const px = x(t);
            if (px < gutter || px > width) continue;
            g.fillStyle = colour.bad;
            g.fillRect(px - 1, axisHeight, 2, lanesHeight - axisHeight - endHeight);
        }
        pill(story.band.label, inside(story.band.from, story.band.to), colour.bad, colour['bad-ink']);
    } else if (Number.isFinite(stopped) && seen(stopped, stopped)) {
        g.fillStyle = colour.bad;
        g.fillRect(x(stopped) - 1, axisHeight, 2, lanesHeight - axisHeight - endHeight);
        pill('the violation', x(stopped), colour.bad, colour['bad-ink']);
    }
    for (const o of overlaps)
        if (!o.judged && seen(o.from, o.to))
            pill(
                `both hold “${o.first.name}” for ${length(o.to - o.from)}: allowed here`,
                inside(o.from, o.to),
                colour['fault-soft'],
                colour.ink
            );
    const end = x(data.end);
    g.fillStyle = colour.panel;
    g.fillRect(gutter, lanesHeight - endHeight, width - gutter, endHeight);
    if (seen(data.end, data.end)) {
        g.fillStyle = colour.dim;
        g.fillRect(end - 0.5, axisHeight, 1, lanesHeight - axisHeight);
        const text = data.violation !== null ? 'noticed here: the schedule stops' : 'the schedule ends';
        label(text, end + 5, lanesHeight - 5, colour.dim) || label(text, end - 5, lanesHeight - 5, colour.dim, {align: 'right'});
    }
    if (!view.squeezed) return;
    for (let i = 1; i < instants.length; ++i) {
        const d = instants[i] - instants[i - 1];
        if (d < 20 * gap || !seen(instants[i - 1], instants[i])) continue;
        const x0 = Math.max(x(instants[i - 1]), gutter),
            x1 = Math.min(x(instants[i]), width);
        const text = `⇥ ${length(d)} idle ⇤`;
        g.font = fontOf(10.5);
        label(x1 - x0 > g.measureText(text).width + 6 ? text : '≈', (x0 + x1) / 2, lanesHeight - 5, colour.dim, {
            size: 10.5,
            align: 'center'
        });
    }
}

function draw() {
    taken = [];
    hits = [];
    const ratio = devicePixelRatio || 1;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.textBaseline = 'alphabetic';
    g.fillStyle = colour.panel;
    g.fillRect(0, 0, width, lanesHeight);
    g.save();
    g.beginPath();
    g.rect(gutter, 0, width - gutter, lanesHeight);
    g.clip();
    drawLanes();
    drawFaultAreas();
    drawBands();
    g.restore();
    const ticks = drawTicks();
    g.save();
    g.beginPath();
    g.rect(gutter, axisHeight, width - gutter, lanesHeight);
    g.clip();
    drawGrid(ticks);
    const visible = $('messages').checked ? drawMessages() : [];
    drawClients();
    drawServers();
    drawBandLabels();
    drawNotes();
    drawFaultLabels();
    drawNoteLabels();
    drawMessageLabels(visible);
    g.restore();
    drawGutter();
    if (scroll.scrollTop > 0) drawTicks();
    if (pointer) {
        g.strokeStyle = colour.dim;
        g.globalAlpha = 0.7;
        g.beginPath();
        g.moveTo(pointer[0] + 0.5, axisHeight + scroll.scrollTop);
        g.lineTo(pointer[0] + 0.5, lanesHeight - endHeight);
        g.stroke();
        g.globalAlpha = 1;
    }
    if (selection) {
        g.fillStyle = colour.ink;
        g.globalAlpha = 0.12;
        g.fillRect(Math.min(...selection), axisHeight, Math.abs(selection[1] - selection[0]), lanesHeight);
        g.globalAlpha = 1;
    }
    drawOverview();
    const span = time(view.to) - time(view.from);
    $('reading').textContent = pointer
        ? moment(timeAt(pointer[0])) +
          (data.violation !== null
              ? ` (${timeAt(pointer[0]) > data.end ? '+' : '−'}${length(Math.abs(timeAt(pointer[0]) - data.end))} from the violation)`
              : '')
        : span < data.end
          ? `${length(span)} of ${length(data.end)} shown`
          : `all of ${length(data.end)} shown`;
}

let selection = null;

const overviewX = t => 8 + ((squeezedOf(t) - squeezedOf(0)) / Math.max(1, squeezedOf(last) - squeezedOf(0))) * (width - 16);
