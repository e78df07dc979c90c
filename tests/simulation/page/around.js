// Words around the picture.
function element(name, attributes = {}, ...children) {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes)) if (v !== undefined) e.setAttribute(k, v);
    e.append(...children);
    return e;
}
function drawWords() {
    if (data.violation !== null) document.querySelector('h1').textContent = 'Violation: ' + readable(data.violation);
    const why = $('why');
    why.replaceChildren(story.text.join(' '));
    if (story.chips.length) {
        why.append(element('br'), 'On the servers at that moment: ');
        for (const c of story.chips)
            why.append(
                element(
                    'span',
                    {class: 'chip', style: c.value ? `background:${colourOf(c.value)};color:${colour.onBar}` : `background:${colour.key}`},
                    c.text
                )
            );
        const counts = new Map();
        for (const c of story.chips) if (c.value) counts.set(c.value, (counts.get(c.value) ?? 0) + 1);
        const votes = [...counts].map(([v, n]) => `${v} on ${n}`).join(', ');
        why.append(
            element(
                'span',
                {style: 'white-space: nowrap'},
                `${votes} of ${servers}; ${majority} ${majority > 1 ? 'are' : 'is'} a majority.`
            )
        );
    }
    const legend = $('legend');
    legend.replaceChildren();
    const svg = (inner, w = 26) => `<svg width="${w}" height="14" aria-hidden="true">${inner}</svg>`;
    const entry = (picture, text) => {
        const e = element('span');
        e.innerHTML = picture;
        e.append(text);
        legend.append(e);
    };
    const c = colour.clients[0],
        line = dash => `<line x1="1" y1="7" x2="25" y2="7" stroke="${c}" stroke-width="1.8" stroke-dasharray="${dash}"/>`;
    entry(
        svg(`<rect x="1" y="2" width="24" height="10" rx="2" fill="${c}"/>`),
        'lease, or its key (a colour per client, a shade per attempt)'
    );
    entry(svg(`<rect x="1.5" y="2.5" width="23" height="9" rx="2" fill="none" stroke="${c}" stroke-dasharray="3 2"/>`), 'tries to acquire');
    entry(
        svg(
            `<rect x="1.5" y="2.5" width="23" height="9" rx="2" fill="${colour.key}" stroke="${c}"/>` +
                `<path d="M5 11l6-8M12 11l6-8M19 11l4-6" stroke="${colour.dim}"/>`
        ),
        'held, no longer valid'
    );
    entry(svg(`<path d="M1 4h20" stroke="${c}"/><path d="M21 1v8" stroke="${c}" stroke-width="2"/>`), 'valid until');
    entry(svg(`<rect x="1" y="7" width="24" height="7" rx="2" fill="${c}"/><path d="M13 7l-4-6h8z" fill="${c}"/>`), 'extended');
    entry(svg(line('')), 'acquire');
    entry(svg(line('7 3')), 'extend');
    entry(svg(line('2 3')), 'release');
    entry(svg(line('1 1')), 'confirm');
    entry(svg(line('9 2 2 2')), 'admission');
    entry(
        svg(
            `<circle cx="7" cy="7" r="3.4" fill="${c}" stroke="${c}"/>` +
                `<circle cx="19" cy="7" r="3.4" fill="none" stroke="${c}" stroke-width="1.5"/>`
        ),
        'granted, refused'
    );
    entry(svg(`<path d="M3 3l8 8M11 3l-8 8" stroke="${c}" stroke-width="2"/>`, 14), 'lost or failed');
    entry(
        svg(`<rect x="3" y="3" width="8" height="8" fill="none" stroke="${colour.fault}" stroke-width="1.5"/>`, 14),
        'executed, and nobody knows'
    );
    entry(
        svg(
            `<rect width="26" height="14" fill="${colour['fault-soft']}" opacity=".5"/><rect width="2" height="14" fill="${colour.fault}"/>`
        ),
        'fault'
    );
    entry(svg(`<path d="M7 2l5 5-5 5-5-5z" fill="${colour.dim}"/>`, 14), 'what a user saw');
    entry('', '≈ idle time, squeezed');
    entry('', 'wheel zooms, drag moves, shift-drag selects, double click fits a bar');
}
function facts() {
    const ttls = [...new Set(data.messages.flatMap(m => m.commands.filter(c => c[0] === 'acquire').map(c => c[3])))].sort((a, b) => a - b);
    const all = [
        ['ttl', ttls.map(t => length(t * 1e6)).join(', ') || 'none'],
        ['clients', clients],
        ['servers', `${servers}, majority ${majority}`],
        ...data.settings.map(([name, text]) => [
            name,
            text
                .replace(/(\d+) to (\d+) us/, (all, a, b) => `${length(a * 1e3)} to ${length(b * 1e3)}`)
                .replace(/(\d+) us/, (all, n) => length(n * 1e3))
        ]),
        ['time', length(data.end)],
        ['steps', data.steps],
        ['hash', data.hash]
    ];
    for (const [name, text] of all) $('facts').append(element('div', {}, element('dt', {}, name), element('dd', {}, String(text))));
}
