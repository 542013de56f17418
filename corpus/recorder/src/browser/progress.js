// Visual progress as WebPageTest measures it: how far the histogram of each colour has come from the first picture to the last.
async (pictures) => {
  const histogram = async (jpeg) => {
    const image = new Image();
    image.src = 'data:image/jpeg;base64,' + jpeg;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const points = context.getImageData(0, 0, image.width, image.height).data;
    const counts = new Float64Array(3 * 256);
    for (let at = 0; at < points.length; at += 4) {
      for (let colour = 0; colour < 3; colour++) counts[256 * colour + points[at + colour]]++;
    }
    return counts;
  };
  const all = [];
  for (const picture of pictures) all.push(await histogram(picture));
  if (all.length === 0) return '[]';
  const [first, last] = [all[0], all[all.length - 1]];
  const progress = all.map((now) => {
    let [come, way] = [0, 0];
    for (let bin = 0; bin < now.length; bin++) {
      const whole = last[bin] - first[bin];
      const part = now[bin] - first[bin];
      way += Math.abs(whole);
      if (Math.sign(part) === Math.sign(whole)) come += Math.min(Math.abs(part), Math.abs(whole));
    }
    return way === 0 ? 1 : come / way;
  });
  return JSON.stringify(progress);
}
