// The files of a study's folder, which somebody chose or dropped.

// What the program reads of a study. It makes the figures and tables itself.
const isRead = (name) => /^(manifest\.json|runs\.jsonl|(pages|schemes)\/[^/]+)$/.test(name);

// The texts of the files of a study, by their names below its folder.
/** @param {[string, File][]} files @returns {Promise<Record<string, string>>} */
async function texts(files) {
  const read = files.filter(([name]) => isRead(name)).map(async ([name, file]) => [name, await file.text()]);
  return Object.fromEntries(await Promise.all(read));
}

/** @param {FileList} files */
export const chosen = (files) => texts([...files].map((file) => [file.webkitRelativePath.split("/").slice(1).join("/") || file.name, file]));

/** @param {DataTransfer} transfer */
export async function dropped(transfer) {
  const roots = [...transfer.items].map((it) => it.webkitGetAsEntry()).filter(Boolean);
  const below = await Promise.all(roots.map((root) => (root.isDirectory ? filesOf(root, "", 2) : filesOf(root, "", 1))));
  return texts(below.flat());
}

// The files of an entry, so many folders deep. The first folder's name does not count.
/** @param {any} entry @param {string} path @param {number} depth @returns {Promise<[string, File][]>} */
async function filesOf(entry, path, depth) {
  if (entry.isFile) return isRead(path || entry.name) ? [[path || entry.name, await new Promise((done, failed) => entry.file(done, failed))]] : [];
  if (!depth) return [];
  const inside = await entriesOf(entry.createReader());
  return (await Promise.all(inside.map((it) => filesOf(it, path ? `${path}/${it.name}` : it.name, depth - 1)))).flat();
}

// A reader gives some entries at a time, and none at the end.
async function entriesOf(reader) {
  const all = [];
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return all;
    all.push(...some);
  }
}
