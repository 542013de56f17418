// Ten questions about a connection, each answered in the report as its reader would, in as many steps as docs/qlog-questions.md says. The answers
// are compared with the lines of the logs: `node questions.js REPORT.html LOGS`, with the folder that `utmost play --qlog LOGS` wrote.

import { readFileSync } from "node:fs";
import { launch, open } from "./pages.js";
import { RawLogs, packetName, streamFrames } from "./raw_logs.js";
import { COUNTED, PATIENCE_MS, Reader } from "./reader.js";

const STREAM = 8;
const BYTE = 70000;
const NEAR_MS = 0.0011;

const grouped = (number) => number.toLocaleString("en");
const numberOf = (text) => Number(text.replace(/,/g, ""));
const isNear = (one, other) => Math.abs(one - other) <= NEAR_MS;
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const kilobytes = (bytes) => `${(bytes / 1e3).toFixed(1)} kB`;
const ack = (ranges) => ranges.slice(0, 8).map(([first, last]) => (first === last ? grouped(first) : `${grouped(first)} to ${grouped(last)}`)).join(", ");

// Each returns whether the report's answer is that of the logs, and the answer.
const QUESTIONS = {
  "Which packet first carried byte 70,000 of stream 8?": async (reader, logs) => {
    await reader.scrollTo("Events");
    await reader.type("Stream", String(STREAM));
    await reader.type("with byte", String(BYTE));
    const [, number, offset, last] = await reader.read(rows(reader), new RegExp(`server.*packet_sent\\s*([\\d,]+)\\s*STREAM ${STREAM}: bytes ([\\d,]+) to ([\\d,]+)`, "s"));
    const isThere = numberOf(offset) <= BYTE && BYTE <= numberOf(last);
    return [isThere && `1-RTT packet ${number}` === packetName(logs.carriers(STREAM, BYTE)[0]), `packet ${number}`];
  },

  "Was this packet lost, and which packet repaired it?": async (reader, logs) => {
    const lost = logs.lost("server", "client").find((it) => streamFrames(it).length);
    const [{ stream, offset }] = streamFrames(lost);
    const repair = logs.carriers(stream, offset)[1];
    await reader.scrollTo("Events");
    await reader.type("Packet", String(lost.data.header.packet_number));
    await reader.read(detail(reader), /^the client's log does not have it$/);
    const [, time, name] = await reader.read(detail(reader), /^its bytes went again at ([\d.]+) ms in (.*)$/);
    return [name === packetName(repair) && isNear(Number(time), logs.onClientClock("server", repair.time)), `${packetName(lost)}: lost, repaired by ${name} at ${time} ms`];
  },

  "What were the window and the bytes in flight then?": async (reader, logs) => {
    const packet = logs.carriers(STREAM, BYTE)[0];
    await reader.scrollTo("Events");
    await reader.type("Packet", String(packet.data.header.packet_number));
    const [, window, inFlight] = await reader.read(detail(reader), /^the server then had: .*congestion window ([\d.]+ kB).*bytes in flight ([\d.]+ kB)/);
    const wanted = ["congestion_window", "bytes_in_flight"].map((name) => kilobytes(logs.metric(name, packet.time)));
    return [isSame([window, inFlight], wanted), `${packetName(packet)}: ${window}, ${inFlight}`];
  },

  "How long was a packet on its way, and when did the delay grow?": async (reader, logs) => {
    await reader.scrollTo("Packets");
    await reader.choose("Show in packets", "slow packets");
    await reader.read(packetTable(reader).locator("caption"), /^Slow packets in view/);
    const row = packetTable(reader).getByRole("row").nth(1);
    const [, sent, onTheWay, name] = await reader.read(row, /^([\d.]+ ms)\s*[\d.]+ ms\s*([\d.]+ ms)\s*the \w+?\s*(1-RTT packet [\d,]+)/);
    const first = logs.slow()[0];
    const isRight = name === packetName(first.sent) && isNear(parseFloat(sent), logs.onClientClock(first.side, first.sent.time)) && Math.abs(parseFloat(onTheWay) - first.way) < 0.06;
    return [isRight, `${name}, sent at ${sent}: ${onTheWay}`];
  },

  "What acknowledged this packet, and what else did that acknowledgement cover?": async (reader, logs) => {
    const packet = logs.carriers(STREAM, BYTE)[0];
    await reader.scrollTo("Events");
    await reader.type("Packet", String(packet.data.header.packet_number));
    const [, by, ranges] = await reader.read(detail(reader), /^acknowledged at [\d.]+ ms by (.*): ACK ([\d, to]+)/);
    const { event, ranges: wanted } = logs.acknowledgement(packet);
    return [by === packetName(event) && ranges.trim() === ack(wanted), `${packetName(packet)}: ${by}, ${ranges}`];
  },

  "Which packets were lost?": async (reader, logs) => {
    await reader.scrollTo("Packets");
    await reader.choose("Show in packets", "lost packets");
    const [, found] = await reader.read(packetTable(reader).locator("caption"), /^Lost packets in view: \d+; (.*?)(?:\. “not logged”: .*)?$/);
    const wanted = logs.lost("server", "client").map((it) => it.data.header.packet_number);
    const isRight = wanted.length > 0 && !logs.lost("client", "server").length && found === `the server sent ${runs(wanted)}`;
    return [isRight, found];
  },

  "How fast was it from here to there?": async (reader, logs) => {
    await reader.drag(reader.figure("Multiplexing"), "Multiplexing", [0.5, 0.8], "Alt");
    const measured = reader.page.getByRole("region", { name: "Measured" });
    let [isRight, text] = [false, ""];
    // The words and the address follow the drag one after the other.
    for (const end = Date.now() + PATIENCE_MS; !isRight && Date.now() < end; await reader.page.waitForTimeout(200)) {
      const [words, , frames, fresh] = await reader.read(measured, /([\d.]+ m?s): ([\d,]+) STREAM frames, ([\d.]+ k?M?B) new, [\d.]+ [kM]?bit\/s/);
      await reader.page.waitForURL(/measured=/);
      const address = new URLSearchParams(new URL(reader.page.url()).hash.slice(1));
      const [from, to] = address.get("measured").split("~").map((it) => it / 1e3);
      const wanted = logs.arrivals(from, to);
      isRight = wanted.frames > 0 && numberOf(frames) === wanted.frames && fresh === kilobytes(wanted.fresh);
      text = words;
    }
    return [isRight, text];
  },

  "Which packet brought this block?": async (reader, logs) => {
    const figure = reader.figure("Multiplexing");
    const { width } = await figure.boundingBox();
    await reader.hover(figure, "the block", { x: 0.6 * width, y: 30 });
    const tip = reader.page.locator("#tip div");
    const [, stream] = await reader.read(tip, /^stream (\d+)/);
    const [, from, to] = await reader.read(tip, /^bytes ([\d,]+) to ([\d,]+)/);
    const [name] = await reader.read(tip, /^1-RTT packet [\d,]+/);
    const frame = { stream: Number(stream), offset: numberOf(from), bytes: numberOf(to) - numberOf(from) + 1 };
    const brought = logs.received("client").filter((it) => streamFrames(it).some((one) => isSame(one, frame)));
    return [brought.some((it) => packetName(it) === name), `stream ${stream}, bytes ${from} to ${to}: ${name}`];
  },

  "Which priority did a request signal, and when?": async (reader, logs) => {
    const stream = logs.requests().find((it) => logs.request(it).priority);
    const { path, priority, time } = logs.request(stream);
    const entry = reader.page.getByRole("group", { name: /^Streams of/ }).getByRole("button", { name: new RegExp(`^${stream} `) });
    await reader.hover(entry, `stream ${stream} in the legend`);
    const title = await entry.getAttribute("title");
    return [title.startsWith(`${stream} `) && title.endsWith(`${path}, ${priority}, requested at ${time.toFixed(3)} ms`), title];
  },

  "Which transport parameters did both ends use?": async (reader, logs) => {
    await reader.scrollTo("Events");
    await reader.type("Text", "parameters_set");
    const shown = reader.page.locator(".event-detail pre");
    const answers = [];
    for (const side of ["client", "server"]) {
      if (answers.length) await reader.click(rows(reader).nth(1), "the second row");
      await reader.read(detail(reader), new RegExp(`^logged by the ${side} `));
      answers.push(JSON.parse((await reader.read(shown, /^[^]*$/))[0]));
    }
    const own = (side) => logs.events(side, "quic:parameters_set").find((it) => it.data.initiator === "local").data;
    return [isSame(answers, ["client", "server"].map(own)), `${answers.map((it) => Object.keys(it).length).join(" and ")} parameters`];
  },
};

// A packet's number in the address: its event is described when the page is open.
async function anAddressNamesAPacket(browser, file, logs, check) {
  const packet = logs.carriers(STREAM, BYTE)[0];
  const { page } = await open(browser, file);
  await page.goto(`${page.url().split("#")[0]}#packet0=${packet.data.header.packet_number}`);
  const words = page.locator(".event-detail > div").filter({ hasText: packetName(packet) });
  const isThere = await words.first().waitFor({ timeout: PATIENCE_MS }).then(() => true, () => false);
  check("an address names a packet", isThere, packetName(packet));
  await page.context().close();
}

const rows = (reader) => reader.page.getByRole("listbox", { name: /^Events of/ }).getByRole("option");
const detail = (reader) => reader.page.locator(".event-detail > div");

const packetTable = (reader) => reader.page.getByRole("region", { name: /^Table: Packets of/ });

// Numbers in rising order, as the page writes them.
function runs(numbers) {
  const ends = numbers.filter((it) => !numbers.includes(it + 1));
  const starts = numbers.filter((it) => !numbers.includes(it - 1));
  return starts.map((first, place) => (first === ends[place] ? grouped(first) : `${grouped(first)} to ${grouped(ends[place])}`)).join(", ");
}

// The steps that the table of the documents has for each question.
function documentedSteps() {
  const lines = readFileSync(new URL("../../docs/qlog-questions.md", import.meta.url), "utf8").split("\n");
  const cells = lines.filter((it) => it.startsWith("| ")).map((it) => it.split("|").map((cell) => cell.trim()));
  return new Map(cells.map(([, question, , steps]) => [question, Number(steps)]));
}

// Asks all questions, each of a report that was just opened. `check(name, isGood, found)` is told the results.
export async function askQuestions(browser, file, folder, check) {
  const logs = new RawLogs(folder);
  const documented = documentedSteps();
  for (const [question, answer] of Object.entries(QUESTIONS)) {
    const { page, problems } = await open(browser, file);
    await page.getByText(COUNTED).waitFor();
    const reader = new Reader(page);
    const [isRight, found] = await answer(reader, logs).catch((error) => [false, error.message.split("\n")[0]]);
    const steps = reader.steps.length;
    const isGood = isRight && steps === documented.get(question) && !problems.length;
    check(`${question} ${steps} ${steps === 1 ? "step" : "steps"}`, isGood, `${found} (${reader.steps.join(", ")})${problems.join()}`);
    await page.context().close();
  }
  await anAddressNamesAPacket(browser, file, logs, check);
}

if (process.argv[1].endsWith("questions.js")) {
  const browser = await launch();
  if (!browser) console.log("skipped: no Chromium");
  else {
    await askQuestions(browser, ...process.argv.slice(2, 4), (name, isGood, found) => {
      console.log(`${isGood ? "ok  " : "FAIL"} ${name}: ${found}`);
      if (!isGood) process.exitCode = 1;
    });
    await browser.close();
  }
}
