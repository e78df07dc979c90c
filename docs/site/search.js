// Looks for all words in all sections of pages and reference: what begins with them, titles first. sections comes from search-index.js, which
// build.py makes: [address, title, title of its page, text] of each.
(() => {
  const shown_max = 12;
  const words_of = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  let index;

  function prepare() {
    index ??= sections.map(([address, title, page, text]) => {
      const lower = ` ${text.toLowerCase()}`;
      return { address, title, page, text, lower, title_words: words_of(title), page_words: words_of(page) };
    });
  }

  // Where a word of the text begins with it; -1: nowhere.
  function place(lower, word) {
    for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + 1))
      if (!/[\p{L}\p{N}]/u.test(lower[at - 1])) return at;
    return -1;
  }

  function score(section, words) {
    let sum = 0;
    for (const word of words) {
      const begins = (other) => other.startsWith(word) || other.includes('_' + word);
      if (section.title_words.includes(word)) sum += 12;
      else if (section.title_words.some(begins)) sum += 8;
      else if (section.page_words.some(begins)) sum += 3;
      else if (place(section.lower, word) !== -1) sum += 1;
      else return 0;
    }
    return sum + (section.title === section.page ? 2 : 0);
  }

  function excerpt(section, words) {
    const at = Math.max(0, place(section.lower, words[0]) - 1);
    const from = at > 40 ? section.text.lastIndexOf(' ', at - 30) + 1 : 0;
    return (from ? '… ' : '') + section.text.slice(from, from + 130) + (section.text.length > from + 130 ? ' …' : '');
  }

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
    const words = words_of(box.value);
    results.hidden = words.length === 0;
    if (results.hidden) return;
    prepare();
    const found = index.map((section) => ({ section, points: score(section, words) })).filter((f) => f.points > 0);
    found.sort((a, b) => b.points - a.points);  // stable: in the order of the pages
    results.replaceChildren(...found.slice(0, shown_max).map(({ section }) => {
      const title = section.title === section.page ? [section.title] : [section.title, element('small', {}, section.page)];
      return element('a', { href: root + section.address }, element('b', {}, ...title), element('span', {}, excerpt(section, words)));
    }));
    if (found.length === 0) results.append(element('p', {}, 'Nothing has all of these words.'));
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
})();
