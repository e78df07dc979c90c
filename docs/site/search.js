// Looks for all words in all sections of pages and reference. sections comes from search-index.js, which build.py makes: [address, title, title of its
// page, text] of each. Node can load this file to test the order of what is found.
const finder = (() => {
  // A number and its unit are one word, however they are written: "30 seconds", "30 s" and "30s".
  const units = { s: 's', second: 's', seconds: 's', sec: 's', ms: 'ms', millisecond: 'ms', milliseconds: 'ms', min: 'min', minute: 'min', minutes: 'min',
                  h: 'h', hour: 'h', hours: 'h' };
  // Pages that answer questions come before those that report on measurements and tests.
  const weights = [[/^(performance|comparison|changelog|simulation|faults|robustness|contributing)\.html/, 0.5], [/^(proof|protocol|architecture)\.html/, 0.7],
                   [/^(troubleshooting|semantics|errors|fencing|choosing|operations|tutorial)\.html/, 1.3]];

  function words_of(text) {
    const result = [];
    for (const word of text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []) {
      if (units[word] && /^\d+$/.test(result.at(-1) ?? '')) result.push(result.pop() + units[word]);
      else result.push(word);
    }
    return result;
  }

  function prepare(sections) {
    return sections.map(([address, title, page, text]) => ({
      address, title, page, text, words: words_of(text), title_words: words_of(title), page_words: words_of(page),
      weight: (weights.find(([pattern]) => pattern.test(address)) ?? [null, 1])[1],
    }));
  }

  const begins = (word) => (other) => other.startsWith(word) || other.includes('_' + word);

  // Words that follow each other in the text as they do in the query.
  function phrase(words, query) {
    if (query.length < 2) return 0;
    return words.some((_, i) => query.every((word, k) => words[i + k] === word)) ? 1 : 0;
  }

  function score(section, query) {
    let sum = 0;
    for (const word of query) {
      if (section.title_words.includes(word)) sum += 12;
      else if (section.title_words.some(begins(word))) sum += 8;
      else if (section.page_words.some(begins(word))) sum += 3;
      else {
        // A number has to be the whole word: 30 is not in 300.
        const times = section.words.filter(/^\d/.test(word) ? (other) => other === word : begins(word)).length;
        if (times === 0) return 0;
        sum += 1 + Math.min(2, Math.log2(times) / 2);
      }
    }
    if (phrase(section.title_words, query)) sum += 12;
    else if (phrase(section.words, query)) sum += 6;
    return (sum + (section.title === section.page && sum > 8 ? 2 : 0)) * section.weight;
  }

  // [section], best first; equal ones in the order of the pages.
  function find(index, text) {
    const query = words_of(text);
    if (query.length === 0) return [];
    const found = index.map((section) => ({ section, points: score(section, query) })).filter((f) => f.points > 0);
    return found.sort((a, b) => b.points - a.points).map((f) => f.section);
  }

  function excerpt(section, text) {
    const query = words_of(text).map((w) => w.replace(/^(\d+)[a-z]+$/, '$1'));
    const lower = section.text.toLowerCase();
    const word = query.map((w) => lower.search(new RegExp(`(?<![\\p{L}\\p{N}])${w}`, 'u'))).find((at) => at >= 0) ?? 0;
    const from = word > 40 ? section.text.lastIndexOf(' ', word - 30) + 1 : 0;
    return (from ? '… ' : '') + section.text.slice(from, from + 130) + (section.text.length > from + 130 ? ' …' : '');
  }

  return { prepare, find, excerpt };
})();

if (typeof document === 'undefined') module.exports = finder;
else (() => {
  const shown_max = 12;
  let index;

  function element(name, properties, ...inside) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...inside);
    return made;
  }

  const root = document.currentScript.src.replace(/search\.js$/, '');
  const box = element('input', { id: 'search', type: 'search', placeholder: 'Search', autocomplete: 'off' });
  box.setAttribute('aria-label', 'Search');
  const results = element('div', { id: 'search-results', hidden: true });
  document.getElementById('titlearea').append(element('form', { id: 'search-form', onsubmit: () => false }, box, results));

  function search() {
    results.hidden = box.value.trim() === '';
    if (results.hidden) return;
    index ??= finder.prepare(sections);
    const found = finder.find(index, box.value);
    results.replaceChildren(...found.slice(0, shown_max).map((section) => {
      const title = section.title === section.page ? [section.title] : [section.title, element('small', {}, section.page)];
      return element('a', { href: root + section.address }, element('b', {}, ...title), element('span', {}, finder.excerpt(section, box.value)));
    }));
    if (found.length === 0) results.append(element('p', {}, 'No section has all of these words.'));
    if (found.length > shown_max) results.append(element('p', {}, `${found.length - shown_max} more`));
  }

  box.addEventListener('input', search);
  box.addEventListener('focus', search);
  document.addEventListener('keydown', (event) => {
    const links = [...results.querySelectorAll('a')];
    const here = links.indexOf(document.activeElement);
    if (event.key === '/' && document.activeElement !== box) box.focus();
    else if (event.key === 'Escape') results.hidden = true;
    else if (results.hidden || links.length === 0) return;
    else if (event.key === 'ArrowDown') links[Math.min(here + 1, links.length - 1)].focus();
    else if (event.key === 'ArrowUp') (here > 0 ? links[here - 1] : box).focus();
    else if (event.key === 'Enter' && here === -1) links[0].click();
    else return;
    event.preventDefault();
  });
  document.addEventListener('click', (event) => {
    if (!event.target.closest('#search-form')) results.hidden = true;
  });
  document.querySelector('#site-nav .here')?.scrollIntoView({ block: 'nearest' });
})();
