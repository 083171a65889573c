"""What the page does in the browser: it draws figures, on wide and narrow screens and on paper."""

from __future__ import annotations

from inertid_ros.report.drawing import LOOK, PACKED, Fields, to_json

NARROW = 640
"""Screens up to so many pixels wide are narrow: those of phones held upright have 360 to 430."""
_CONFIG: Fields = {
    "responsive": True,
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "sendChartToCloud", "sendDataToCloud"],
}
"""The last two buttons, of newer and older versions of plotly.js, would send the data away."""

DRAW_SCRIPT = f"""
const look = {to_json(LOOK)}, config = {to_json(_CONFIG)};
const unpack = value => {{
  if (Array.isArray(value)) return value.map(unpack);
  if (value === null || typeof value !== 'object') return value;
  if ('{PACKED}' in value) {{
    const bytes = Uint8Array.from(atob(value.{PACKED}), letter => letter.charCodeAt(0));
    return new Float32Array(bytes.buffer);
  }}
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpack(item)]));
}};
const isMapping = value => value !== null && typeof value === 'object' && !Array.isArray(value);
const merge = (base, other) => !isMapping(base) || !isMapping(other) ? other
  : Object.entries(other).reduce((all, [key, item]) => ({{...all, [key]: merge(base[key], item)}}), base);
const figures = new Map(), narrow = matchMedia('(max-width: {NARROW}px)');
let paper;
const render = name => {{
  const figure = figures.get(name), holder = document.getElementById(name);
  if (typeof Plotly === 'undefined') {{
    holder.textContent = document.body.dataset.missing;
    holder.style.height = 'auto';
    return;
  }}
  const isNarrow = narrow.matches && !paper;
  const layout = isNarrow ? merge(figure.layout, figure.narrow) : figure.layout;
  holder.style.height = layout.height + 'px';
  Plotly.react(name, figure.data, {{template: look, ...layout, width: paper}},
    {{...config, displayModeBar: isNarrow ? false : 'hover'}});
}};
const draw = (name, figure) => {{
  figures.set(name, {{...figure, data: unpack(figure.data)}});
  const fold = document.getElementById(name).closest('details:not([open])');
  if (fold) fold.addEventListener('toggle', () => render(name), {{once: true}});
  else render(name);
}};
const renderAll = () =>
  [...figures.keys()].filter(name => document.getElementById(name).offsetParent).forEach(render);
narrow.addEventListener('change', renderAll);
"""
"""Defines draw(name, figure): unpacks the arrays and draws the figure in the element of that name, once it is unfolded.

A phone that is turned gets the other layout. Where plotly.js is not beside the page, the page says so."""

PRINT_SCRIPT = """
let unfolded = [];
const fit = (width, isOpen) => {
  paper = width;
  if (isOpen) unfolded = [...document.querySelectorAll('details:not([open])')];
  unfolded.forEach(fold => { fold.open = isOpen; });
  renderAll();
};
window.addEventListener('beforeprint', () => fit(1090, true));
window.addEventListener('afterprint', () => fit(undefined, false));
window.addEventListener('load', () => {
  const body = document.getElementById('plot-body');
  if (!body || typeof Plotly === 'undefined') return;
  Plotly.toImage(body, {format: 'png', width: 1000, height: 520}).then(source => {
    const picture = document.createElement('img');
    picture.className = 'print-only';
    picture.src = source;
    body.parentElement.appendChild(picture);
  });
});
"""
"""On paper everything is unfolded. Plots are drawn 1090 pixels wide, whatever the screen, and the style sheet shrinks
them. A 3D view cannot be printed: an image takes its place."""
