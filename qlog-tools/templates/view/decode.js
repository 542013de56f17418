// Columns of numbers as the report embeds them: base64 of gzip of LEB128 varints.

// As an array of this kind: smaller ones for small numbers.
async function unpack(text, count, Numbers = Float64Array) {
  return varints(await gunzip(fromBase64(text)), new Numbers(count));
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let place = 0; place < bytes.length; place++) bytes[place] = characters.charCodeAt(place);
  return bytes;
}

async function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function varints(bytes, values) {
  let at = 0;
  for (let place = 0; place < values.length; place++) {
    let value = 0;
    let scale = 1;
    let byte = bytes[at++];
    while (byte > 127) {
      value += (byte - 128) * scale;
      scale *= 128;
      byte = bytes[at++];
    }
    values[place] = value + byte * scale;
  }
  return values;
}

// 0, 1, 2, 3, 4 mean 0, -1, 1, -2, 2.
function unzigzag(value) {
  return value % 2 ? -(value + 1) / 2 : value / 2;
}

function runningSum(deltas) {
  let sum = 0;
  for (let place = 0; place < deltas.length; place++) deltas[place] = sum += deltas[place];
  return deltas;
}
