// Zooms a drawing of who uses what. Without this file it has its natural size and can be scrolled.

const frame = document.querySelector('.graph-frame');
const drawing = frame.querySelector('svg');
const natural = { width: drawing.width.baseVal.value, height: drawing.height.baseVal.value };
const bounds = { smallest: 0.2, largest: 3 };
let scale = 1;

/** Zooms so that the middle of what is visible stays where it is. */
function zoom(to) {
  const next = Math.min(bounds.largest, Math.max(bounds.smallest, to));
  const middle = (start, length) => (start + length / 2) * (next / scale) - length / 2;
  const left = middle(frame.scrollLeft, frame.clientWidth);
  const top = middle(frame.scrollTop, frame.clientHeight);
  scale = next;
  drawing.setAttribute('width', natural.width * scale);
  drawing.setAttribute('height', natural.height * scale);
  frame.scrollTo(left, top);
}

const fitting = () => Math.min(1, frame.clientWidth / natural.width);
const actions = {
  'Zoom in': () => zoom(scale * 1.25),
  'Zoom out': () => zoom(scale / 1.25),
  Fit: () => zoom(fitting()),
  'Full size': () => zoom(1),
};

const tools = document.createElement('p');
tools.className = 'actions graph-tools';
for (const [text, act] of Object.entries(actions)) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button';
  button.textContent = text;
  button.addEventListener('click', act);
  tools.append(button);
}
frame.before(tools);

frame.addEventListener('keydown', ({ key }) => {
  if (key === '+') actions['Zoom in']();
  if (key === '-') actions['Zoom out']();
  if (key === '0') actions['Full size']();
});
