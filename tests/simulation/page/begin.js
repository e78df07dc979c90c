// How it begins.
if (data.end >= 1e11) $('moments').style.setProperty('--times', '100px');
chooseColours();
facts();
listMoments();
colourMoments();
repaint();
resize();
new ResizeObserver(resize).observe(scroll);
if (data.violation !== null) {
    showViolation();
    mark(moments.findIndex(m => m.kind === 'violation'));
} else {
    view.squeezed = true;
    $('squeeze').checked = true;
    showAll();
}
