new Image().src = '/exec.png';
for (const start = performance.now(); performance.now() - start < 60;);
setTimeout(() => { new Image().src = '/timer.png' }, 120);
const chained = new Image();
chained.onload = () => { new Image().src = '/after-chained.png' };
chained.src = '/chained.png';
addEventListener('load', () => { new Image().src = '/load.png' });
