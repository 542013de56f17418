// Columns of numbers as the report embeds them: base64 of gzip of LEB128 varints.

// As an array of this kind, or of a wider one if a number does not fit.
async function unpack(text, count, Numbers = Uint32Array) {
  // The page can draw between two columns.
  await new Promise((done) => setTimeout(done));
  const column = new Column(new Numbers(count));
  for await (const piece of gunzipped(fromBase64(text))) column.take(piece);
  return column.numbers;
}

// Puts a number in its place. Returns the array, or a wider copy if the number does not fit: a report's memory is mostly that of
// numbers which could have 8 bytes and nearly always fit in 4 or 2.
function put(numbers, place, value) {
  const wide = value <= highestOf(numbers) ? numbers : widened(numbers, value);
  wide[place] = value;
  return wide;
}

function widened(numbers, value) {
  const isShort = numbers.BYTES_PER_ELEMENT < 4 && value <= 0xffffffff;
  return (isShort ? Uint32Array : Float64Array).from(numbers);
}

function highestOf(numbers) {
  if (numbers instanceof Float64Array) return Infinity;
  return 2 ** (8 * numbers.BYTES_PER_ELEMENT - (numbers instanceof Int32Array ? 1 : 0)) - 1;
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let place = 0; place < bytes.length; place++) bytes[place] = characters.charCodeAt(place);
  return bytes;
}

async function gunzip(bytes) {
  const pieces = [];
  for await (const piece of gunzipped(bytes)) pieces.push(piece);
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

// Piece by piece: the whole of a column is larger than what is kept of it.
async function* gunzipped(bytes) {
  const { readable, writable } = new DecompressionStream("gzip");
  const writer = writable.getWriter();
  // Who reads hears of broken bytes, too.
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  const reader = readable.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) yield value;
}

// Numbers that come in pieces of bytes.
class Column {
  constructor(numbers) {
    Object.assign(this, { numbers, place: 0, value: 0, scale: 1 });
  }

  take(bytes) {
    let { numbers, place, value, scale } = this;
    const { length } = numbers;
    let highest = highestOf(numbers);
    // An iterator would take several times as long.
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte > 127) {
        value += (byte - 128) * scale;
        scale *= 128;
        continue;
      }
      value += byte * scale;
      if (value > highest) {
        numbers = widened(numbers, value);
        highest = highestOf(numbers);
      }
      if (place < length) numbers[place++] = value;
      value = 0;
      scale = 1;
    }
    Object.assign(this, { numbers, place, value, scale });
  }
}

// 0, 1, 2, 3, 4 mean 0, -1, 1, -2, 2.
function unzigzag(value) {
  return value % 2 ? -(value + 1) / 2 : value / 2;
}

// In place, unless the sums need more room than the distances.
function runningSum(numbers) {
  let sum = 0;
  for (let place = 0; place < numbers.length; place++) numbers = put(numbers, place, (sum += numbers[place]));
  return numbers;
}
