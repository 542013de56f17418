// The types of the JSON that `utmost` prints, writes and reads. Generated from the schemas beside this file:
// UTMOST_BLESS=1 cargo test --test cli types
//
// Each document has its `format`, so that a program can tell them apart. Ranges and patterns are in the schemas only.

/** A line of `utmost serve --access-log FILE --access-log-format json`: a response that ended. */
export type Access = {
  /** Bytes of the body that were sent. */
  bytes: number;
  /** The client's address; null if it is not known. */
  client: string | null;
  /** Whether its last byte was sent. */
  complete: boolean;
  /** From the request to the end. */
  duration_ms: number;
  format: "utmost-access/1";
  host: string;
  method: string;
  /** Path and query. */
  path: string;
  /** As in the field: `u=1, i`. */
  priority: string;
  protocol: "HTTP/1.0" | "HTTP/1.1" | "HTTP/2" | "HTTP/3";
  referer: string | null;
  /** The scheme that ordered it; null over TCP. */
  scheme: string | null;
  /** 0: it ended before there was one. */
  status: number;
  /** When it ended, in UTC. */
  time: string;
  user_agent: string | null;
};

/** The output of `utmost browser --json`: page loads in a real browser, and what the playback predicts of them. Times are milliseconds from the first request. */
export type Browser = {
  /** One for each page in each setting. An index is the ByteIndex above the fold, or of all resources where a page has nothing there. */
  agreements: Array<BrowserAgreement>;
  /** The browser with its version, and the bodies of the pages. */
  browser: string;
  format: "utmost-browser/1";
  /** The loads in the browser, as study.json has them. */
  study: Record<string, unknown>;
};

export type BrowserAgreement = {
  /** From the first byte of the document to the first request that follows it, in the browser, the median over all loads. It takes this time to commit to a document. */
  commit_ms: BrowserMs;
  /** Whether both are the same, or their difference is within the interval. */
  is_winner_predicted: boolean;
  network: string;
  page: string;
  /** The same in the playback. */
  predicted_commit_ms: BrowserMs;
  /** The best scheme of the playback. */
  predicted_winner: string;
  /** The rank correlation between the browser's loads with even seeds and those with odd ones: how well it predicts itself. */
  repeatability: number | null;
  /** Medians over loads. */
  schemes: Array<{
    /** The load event in the browser. */
    load_ms: BrowserMs;
    /** The index in the browser. */
    measured: number;
    /** The index of the playback on engine stack. */
    predicted: number;
    /** The load event of the playback. */
    predicted_load_ms: BrowserMs;
    scheme: string;
  }>;
  signals: "ignore" | "obey" | "override";
  /** The rank correlation of the indices over schemes; null for fewer than three schemes, or where all are equal. */
  spearman: number | null;
  /** Of these, the pairs that are in the same order in the playback. */
  told_alike: number;
  /** Pairs of schemes that the loads in the browser tell apart: the 95 % interval of the ratio of loads with the same seed is on one side of 1. Needs six seeds. */
  told_apart: number;
  /** The best scheme in the browser. */
  winner: string;
  /** How many times as long the predicted winner takes as the winner in the browser. */
  winner_ratio: number | null;
  /** Its 95 % interval; null with fewer than six pairs of loads. */
  winner_ratio_interval: Array<number> | null;
};

export type BrowserMs = number | null;

/** Statistics of pages. */
export type CorpusStats = {
  by_source: Record<string, CorpusStatsCount>;
  /** Of the page's bodies. */
  bytes: CorpusStatsSpread;
  /** The sites and templates that the pages come from. */
  clusters: Array<{
    pages: CorpusStatsCount;
    site: string;
    weight: CorpusStatsShare;
  }>;
  /** The distribution of the pages: all of them, all weighted as the web, and by source. */
  distributions: Array<CorpusStatsDistribution>;
  format: "utmost-corpus-stats/1";
  pages: CorpusStatsCount;
  /** Published values for comparison. */
  published: Array<CorpusStatsDistribution>;
  /** Of the page. */
  resources: CorpusStatsSpread;
  rows: Array<{
    atf_resources: CorpusStatsCount;
    bytes: CorpusStatsCount;
    /** Longest chain of discoveries. */
    depth: CorpusStatsCount;
    name: string;
    /** For a recorded page: errors of discovery times in a load that was not used for the derivation. */
    recording_error_ms?: Record<string, number>;
    resources: CorpusStatsCount;
    site: string;
    source: "recorded" | "imported" | "generated" | "hand";
    /** The share of the web's pages that it stands for. */
    weight: CorpusStatsShare;
  }>;
  /** How well the pages stand for the pages of the web: the share of these whose strata of requests have a page, and the number of sites of equal weight that would tell as much. */
  web: {
    covered: CorpusStatsShare;
    effective_sites: number;
  };
};

export type CorpusStatsCount = number;

export type CorpusStatsDistribution = {
  bytes: CorpusStatsPercentiles;
  of: string;
  pages: number | null;
  resources: CorpusStatsPercentiles;
};

/** Nearest rank; null if it was not published. */
export type CorpusStatsPercentiles = Record<string, number | null>;

export type CorpusStatsShare = number;

export type CorpusStatsSpread = {
  max: number;
  median: number;
  min: number;
};

/** What `utmost doctor --json` prints */
export type Doctor = {
  address: string;
  findings: Array<{
    found: string;
    means: string;
    of: "TCP" | "TLS" | "certificate" | "root" | "Alt-Svc" | "QUIC" | "versions of QUIC" | "sizes of datagrams" | "transport parameters" | "settings of HTTP/3" | "answer by HTTP/3" | "HTTPS record";
    remedy: string;
    state: "good" | "note" | "bad";
  }>;
  format: "utmost-doctor/1";
  host: string;
  port: number;
  provenance: Record<string, unknown>;
  will_move: boolean;
};

/** The output of `utmost explain --json`: which facts of pages and links predict the gain and the winner of a study. Ratios are geometric means over sites. */
export type Explain = {
  /** The answers, a sentence each; the choice of a scheme first. */
  answers: Array<string>;
  /** How the gain goes with each fact of pages by itself. */
  associations: Array<ExplainAssociation>;
  /** The scheme that gains are relative to. */
  baseline: string;
  /** Pages in settings in which every scheme has a value. */
  cases: ExplainCount;
  /** The assumptions behind the answers, one sentence each. */
  conditions: Array<string>;
  format: "utmost-explain/1";
  /** How much the best scheme but the baseline gains where. */
  gain: ExplainAnswer;
  /** Pages in settings in which a scheme has none. */
  left_out: ExplainCount;
  /** The metric that gains are of. */
  metric: string;
  /** Pages with cases. */
  pages: ExplainCount;
  /** The effects that a study of this size can find. */
  power: {
    /** The smallest ratio between the gains of two halves of the sites for which 80 of 100 studies find a rule. */
    ratio: number;
    /** The number of sites for which that ratio would be 1.05. */
    sites_for_5_percent: ExplainCount;
  };
  /** The schemes, the baseline first, without duplicates and failed ones. */
  schemes: Array<string>;
  /** What loads met: combinations of network, congestion control and all else that the study varies. */
  settings: ExplainCount;
  /** Their sites: the unit of all tests. */
  sites: ExplainCount;
  /** Which scheme to use where. */
  winner: ExplainAnswer;
};

export type ExplainAnswer = {
  /** Whether anything predicts it. */
  found: boolean;
  /** What the tree is worth on sites that it was not grown from. Absent without a split. */
  held_out?: ExplainHeldOut;
  /** The probability of an equally good first split by chance, with Holm's adjustment for the two questions. */
  p: ExplainProbability;
  /** The scheme with the highest mean gain: of all schemes or, for the question about gain, of all but the baseline. */
  scheme: string;
  /** A single leaf where nothing was found. */
  tree: ExplainBranch;
};

export type ExplainAssociation = {
  fact: string;
  /** Null if too few sites differ in the fact. */
  interval: ExplainInterval | null;
  /** The share of shuffles in which any fact has as large an effect: adjusted for all facts. */
  p: ExplainProbability;
  /** By which factor the speedup is larger where the fact is larger by a standard deviation. */
  ratio: ExplainRatio;
};

export type ExplainBranch = {
  cases: ExplainCount;
  /** Null with fewer than six sites, and of the baseline itself. */
  interval: ExplainInterval | null;
  /** Its geometric mean speedup over the baseline. */
  ratio: ExplainRatio;
  /** The scheme to use here, or the one whose gain is predicted. */
  scheme: string;
  sites: ExplainCount;
  /** What parts the cases further. Absent of a leaf. */
  split?: ExplainSplit;
};

export type ExplainCount = number;

export type ExplainHeldOut = {
  /** Of a gain: the share of its variance that the tree explains; below 0: it does harm. */
  explained?: number;
  interval?: ExplainInterval;
  /** Of a choice: the speedup of what the tree chooses over the best single scheme of the other sites. */
  ratio?: ExplainRatio;
};

/** The ends of a 95 % interval over sites. */
export type ExplainInterval = Array<number>;

export type ExplainProbability = number;

export type ExplainRatio = number;

export type ExplainSplit = {
  above: ExplainBranch;
  /** Other facts that split the cases nearly as well. */
  alike: Array<string>;
  /** The value between both. */
  at: number;
  below: ExplainBranch;
  /** The condition of `above`, in words. */
  condition_above: string;
  /** The condition of `below`, in words. */
  condition_below: string;
  /** The name of the fact: a column of pages, a property of links, or DIMENSION=VALUE. */
  fact: string;
  /** The probability of an equally good split by chance. */
  p: ExplainProbability;
};

/** What `utmost serve --explore-file` writes */
export type Exploration = {
  format: "utmost-exploration/1";
  loads_of_other_pages: number;
  /** The present order, and the candidates */
  orders: Array<string>;
  pages: Array<{
    /** Of all loads that count */
    body_bytes: number;
    /** The order for visitors who try nothing */
    favourite: string;
    /** The answer in words */
    found: string;
    left_out: {
      cached: number;
      incomplete: number;
    };
    orders: Array<{
      /** The geometric mean of the ByteIndex as sent; null without visits */
      byte_index_ms: number | null;
      /** The 95 % interval of the speedup, valid at any time */
      interval: Array<number> | null;
      order: string;
      /** How many times better than the present order; null where too few visits count */
      speedup: number | null;
      visits: number;
    }>;
    /** Host and path */
    page: string;
    /** Sums of the natural logarithms of the indices, by stratum and order: the memory of a server that starts again */
    sums: Array<Array<{
      squares: number;
      sum: number;
      visits: number;
    }>>;
  }>;
  share: number;
};

/** What `utmost find --json` prints and `--out` writes as answer.json */
export type Find = {
  /** What to do. */
  answer: {
    /** How certain it is, and why. */
    certainty: string;
    /** The limits of the answer, one sentence each. */
    left_out: Array<string>;
    /** What to do, and what comes of it. */
    sentence: string;
    verdict: "better" | "nothing-better" | "unsure" | "unknown";
  };
  /** The model of what runs now. */
  baseline_server: "rfc9218" | "nginx" | "caddy" | "h2o" | "fifo" | "rr";
  /** Hints, one for each page; null where they were not loaded. */
  by_hints: null | Array<FindByHints>;
  /** Priorities (RFC 9218) of single resources, one for each page. */
  by_resource: Array<FindByResource>;
  /** The answer beside the one that --baseline names: a row for each page and network; null without it. */
  changes: null | Array<FindChange>;
  /** What real time says of the priorities, over real UDP or in Chromium; null without --confirm. */
  confirmations: null | Array<FindConfirmation>;
  format: "utmost-find/2";
  /** What loads are judged by: seen (docs/find.md), a metric of docs/metrics.md, or several with weights, as in byte_index:2,first_render:1 */
  metric: string;
  /** The most loads of a page on a network in the present order and with a change. */
  most_loads: number;
  /** The program, and the manifest of a study that loads everything that might have been loaded on stack. */
  provenance: Record<string, unknown>;
  /** Whole schemes, which only a server that has them can run; null where they were not searched. */
  schemes: null | FindSchemes;
  seconds: number;
  /** The half-width of an interval, as a share of the ratio, at which loads end. */
  width: number;
};

export type FindByHints = {
  /** Values of Link fields of early hints. */
  early_hints: Array<string>;
  /** Null: there is nothing that a hint could name. */
  hints: "preload" | "early-hints" | null;
  /** Whether they are better than the present order without them on every network. */
  is_better: boolean;
  /** Values of Link fields of the document's response. */
  links: Array<string>;
  networks: Array<{
    first_render: FindSeen;
    /** Adjusted for all pages and networks. */
    holm_p: FindP;
    interval: FindInterval;
    largest_image: FindSeen;
    network: string;
    pairs: number;
    /** The index without hints divided by that with them, over pairs of loads. */
    ratio: FindRatio;
    verdict: "better" | "nothing-better" | "unsure" | "slower" | "unknown";
    wilcoxon_p: FindP;
  }>;
  page: string;
};

export type FindByResource = {
  /** Paths of the documents with the same template, which were not loaded. */
  alike: Array<string>;
  /** Assumptions about the page, because its source does not state these facts. */
  assumptions: Array<string>;
  /** Whether they are worth a change: better on a network, and slower or later on none. */
  is_better: boolean;
  /** URLs of visible images that these priorities delay; the priorities then do not count as better. */
  late: Array<string>;
  networks: Array<{
    /** The index of each load in the present order, by seed; null if it did not finish. */
    each_present_ms: Array<FindMs>;
    first_render: FindSeen;
    found_ms: FindMs;
    /** Adjusted for all pages and networks. */
    holm_p: FindP;
    interval: FindInterval;
    /** The rendering with the hero images, or the completion of the largest visible image. */
    largest_image: FindSeen;
    /** The seed of the pair whose ratio is in the middle, which figures show. */
    middle_seed: number | null;
    network: string;
    /** In the order of packets that is best on ideal; null without --details. */
    oracle_ms: FindMs;
    pairs: number;
    /** What the priorities gain, in percent of what the oracle's order gains; null where that is less than 1 %. */
    percent_of_oracle: number | null;
    /** The median index. */
    present_ms: FindMs;
    /** The present order's index divided by that with the priorities, over pairs of loads. */
    ratio: FindRatio;
    unfinished: number;
    verdict: "better" | "nothing-better" | "unsure" | "slower" | "unknown";
    wilcoxon_p: FindP;
  }>;
  page: string;
  /** Of the page, as a page file. */
  page_sha256: string;
  /** Those whose priority differs from what browsers signal, those that move most first. */
  resources: Array<{
    id: number;
    incremental: boolean;
    /** How much later it completes than in the present order, on the network with the largest gain that is shown, by the estimate of Hodges and Lehmann; negative: earlier. */
    later_ms: number;
    urgency: number;
    url: string;
  }>;
  /** URLs of resources without a line, because another recording of the page would turn it. */
  unsure: Array<string>;
};

export type FindChange = {
  holm_p: FindP;
  interval: FindInterval;
  /** The page is another one, and other priorities are the best for it. */
  is_stale: boolean;
  network: string;
  page: string;
  pairs: number;
  /** The index of then divided by the one of now, over pairs of loads with the same seed; below 1 the page is slower. */
  ratio: FindRatio;
  /** In the present order. */
  verdict: "slower" | "faster" | "same" | "unknown";
  wilcoxon_p: FindP;
  words: string;
};

export type FindConfirmation = {
  /** How it was loaded in real time. */
  engine: "wire" | "browser";
  /** Null: it is one test of one choice. */
  holm_p: null;
  interval: FindInterval;
  /** Whether the interval lies above 1. */
  is_confirmed: boolean;
  network: string;
  page: string;
  pairs: number;
  /** The index in the present order divided by that with the priorities, over pairs of loads. */
  ratio: FindRatio;
  wilcoxon_p: FindP;
  words: string;
};

/** A 95 % interval; null with fewer than six pairs of loads that differ. */
export type FindInterval = null | Array<number>;

export type FindMoved = {
  above_fold: boolean;
  id: number;
  /** How much later it completes than in the present order, by the estimate of Hodges and Lehmann; negative: earlier. */
  later_ms: number;
  url: string;
};

export type FindMs = number | null;

export type FindOrder = {
  /** The same of all resources, only where the page has nothing above the fold. */
  all_ms: FindMs;
  /** The median of the loads after the first three, or of the first ones where it has no others; null where the page has nothing above the fold. */
  atf_ms: FindMs;
  /** Of speedup_present; null where it has only the first loads. */
  interval: FindInterval;
  is_present: boolean;
  /** Loads under it. Only the present order and the candidate have more than the first three. */
  loads: number;
  /** The index divided by its lower bound. */
  regret: FindRatio;
  scheme: string;
  /** Over pairs of the loads of which the index is the median. */
  speedup_present: FindRatio;
  /** Over pairs of the loads of which the index is the median; null where rr has no such loads. */
  speedup_rr: FindRatio;
};

export type FindP = number | null;

export type FindPage = {
  /** The scheme that the first three seeds favoured and the later ones judged. */
  candidate: string | null;
  /** The scheme to change to; null to keep the present order. */
  choice: string | null;
  first_render: FindSeen;
  /** Adjusted for all tests of the answer. */
  holm_p: FindP;
  interval: FindInterval;
  is_narrow: boolean;
  /** The rendering with the hero images, or the completion of the largest visible image. */
  largest_image: FindSeen;
  /** Loads in the present order and under the candidate, the first three included. */
  loads: number;
  /** The seed of the pair whose ratio is in the middle, which figures show. */
  middle_seed: number | null;
  /** The resources whose completion the candidate moves most. */
  moved: Array<FindMoved>;
  network: string;
  page: string;
  /** Pairs of loads that judge. */
  pairs: number;
  /** Every order that was loaded on stack, the best first. */
  ranking: Array<FindOrder>;
  /** The present order's index divided by the candidate's, over pairs of loads; above 1 the candidate is better. */
  ratio: FindRatio;
  /** Every scheme on ideal, the best first. */
  screened: Array<FindScreened>;
  unfinished: number;
  verdict: "better" | "nothing-better" | "unsure" | "unknown";
  /** Null where every load is the same. */
  wilcoxon_p: FindP;
  words: string;
};

export type FindRatio = number | null;

export type FindRobustChoice = {
  interval: FindInterval;
  is_present: boolean;
  network: string;
  /** The page with its worst regret. */
  page: string;
  present_worst_regret: FindRatio;
  scheme: string;
  /** There. */
  speedup_present: FindRatio;
  words: string;
  /** Without a lower bound, a regret is the index divided by the best one of the page and network. */
  worst_regret: number;
};

export type FindSchemes = {
  loads: {
    ideal: number;
    stack: number;
    /** If every scheme had been loaded as many times on stack. */
    stack_of_all_schemes: number;
  };
  /** One answer for each page and network. */
  pages: Array<FindPage>;
  /** The order whose worst regret over all pages and networks is least; null where there is one page on one network. */
  robust_choice: null | FindRobustChoice;
};

export type FindScreened = {
  all_ms: FindMs;
  atf_ms: FindMs;
  regret: FindRatio;
  scheme: string;
};

/** A time that a visitor notices; null where no load tells it. */
export type FindSeen = null | {
  /** The 95 % interval of later_ms; null with fewer than six pairs of loads. */
  interval_ms: null | Array<number>;
  /** By how much it is later with the change; negative: earlier. */
  later_ms: number;
  /** The median now. */
  present_ms: number;
};

/** The resources of a page and what each refers to: `utmost corpus graph` writes it, and `push_policy`, `links` and `early_hints` of a server read it. Indices lead to existing nodes. */
export type Graph = {
  /** References. Those of a node are in the order in which they are evaluated. */
  edges: Array<GraphEdge>;
  format: "utmost-graph/1";
  /** The document first. */
  nodes: Array<GraphNode>;
};

export type GraphCount = number;

export type GraphEdge = {
  /** The index of the node that refers. */
  from: GraphCount;
  /** Where: in the document's head, in the document after it, in a stylesheet, or in a script. */
  place: "head" | "tail" | "style" | "script";
  /** The index of the node that it refers to. */
  to: GraphCount;
};

export type GraphNode = {
  /** Bytes of its body on the wire; 0 if unknown. */
  bytes: GraphCount;
  /** Whether the part of the page above the fold needs it. */
  critical?: boolean;
  /** The ETag field. */
  etag?: string | null;
  /** The duration of its evaluation. */
  evaluation?: {
    nanos: GraphCount;
    secs: GraphCount;
  };
  /** Whether its host is the site's own. */
  first_party?: boolean;
  /** Whether parsing the HTML does not reveal it. */
  hidden?: boolean;
  /** The host that serves it; empty if the page does not say it. */
  host: string;
  kind: "html" | "css" | "js" | "font" | "image" | "media" | "xhr" | "other";
  /** Path and query. */
  path: string;
  /** The Vary field. */
  vary?: string | null;
};

/** A line of `links.jsonl` beside kept qlogs, and of `utmost link --log FILE`: what became of a datagram. A duplicate has a line of its own with the same number. */
export type LinkLog = {
  /** Bytes of its UDP payload; with `utmost link --tun`, of the whole IP packet. */
  bytes: number;
  format: "utmost-link-log/1";
  /** Its number in the order of sending into the link, from 1. */
  number: number;
  /** When it was sent into the link, in nanoseconds from the link's start. */
  offered_ns: number;
  /** `down`: to the client; `up`: to the server. */
  way: "down" | "up";
} & (LinkLogDelivered | LinkLogDropped);

export type LinkLogDelivered = {
  /** When it arrived, in nanoseconds from the link's start. */
  at_ns: number;
  /** Whether one byte of it was changed. */
  corrupted: boolean;
  /** Whether it is the second of two. */
  duplicate: boolean;
  /** Whether it was marked: congestion experienced. */
  marked: boolean;
  /** Whether jitter or reordering let others overtake it. */
  overtaken: boolean;
  verdict: "delivered";
};

export type LinkLogDropped = {
  /** No room in the queue, chance, on the list of numbers, in a blackhole, or more than the link may hold. */
  cause: "queue" | "loss" | "listed" | "blackhole" | "memory";
  verdict: "dropped";
};

/** The stream of each packet of a scenario, for each scheme. */
export type Order = {
  format: "utmost-order/1";
  /** Runs of packets for each scheme, in the order of their slots. */
  orders: Record<string, Array<OrderRun>>;
  /** The scenario's name. */
  scenario: string;
  /** With --trace: for each scheme, the tree after each arrival, after each response that becomes ready or is completely sent, and after each packet that changed the order or the shares. */
  trace?: Record<string, Array<OrderMoment>>;
};

export type OrderElement = string;

export type OrderMoment = {
  /** The tree afterwards: the root first, each node before its children, children in the order of their ranks. */
  nodes: Array<OrderNode>;
  /** The slot in which it happened. */
  slot: number;
  /** The event. */
  what: string;
};

export type OrderNode = {
  /** Whether the node or a node below it is ready. */
  active: boolean;
  /** Steps from the root. */
  depth: number;
  /** The scheme's name. */
  element: OrderElement;
  /** The level of the node's rank: a lower one goes first, strictly. */
  level: number;
  /** The order within the level: a lower one goes first, strictly. */
  order: number;
  /** The share of the connection that the node's own bytes get. */
  own_share: number;
  /** The parent node; null for the root. */
  parent: OrderElement | null;
  /** Whether the node has bytes that can be sent. */
  ready: boolean;
  /** The share of the connection that the node and everything below it get while nothing changes. */
  share: number;
  weight: number;
};

/** First slot, stream, number of packets in consecutive slots, bytes of the last packet. */
export type OrderRun = [number, number, number, number];

/** A web page as data: its resources and how each of them is discovered. What a schema cannot say, `utmost corpus check` checks too: IDs are indices, references are in range, nothing waits for itself, chunks are sorted and sum to `bytes`, URLs are unique, and kinds agree with MIME types. */
export type Page = {
  /** How long the browser takes from the first byte of the document until it reads it: it commits to the navigation, and gives the page a process. */
  commit_ms?: number;
  format: "utmost-page/1";
  name: string;
  origins: Array<{
    host: string;
    party: "first" | "third";
  }>;
  resources: Array<PageResource>;
  source: {
    /** Assumptions about facts that the source did not contain. */
    assumptions?: Array<string>;
    /** The source of the page. */
    from: string;
    kind: "recorded" | "imported" | "generated" | "hand";
    licence: string;
    /** For a recorded page: how it was recorded, and how well it predicts its recordings. */
    recording?: {
      browser: string;
      /** Errors of discovery times under each setting, predicted from the others. */
      left_out_ms: PageSpread;
      loads: number;
      /** The delays under which the page was loaded. */
      settings: Array<string>;
      /** Errors under settings that were not used for the derivation. */
      unseen_ms?: PageSpread;
      unseen_settings?: Array<string>;
    };
    /** Of the file that the page was made from. */
    sha256?: string;
    /** The site or template that it shares with other pages: intervals draw such pages together. By default it shares none. */
    site?: string;
  };
  /** Width and height in CSS pixels. */
  viewport: Array<number>;
};

export type PageResource = {
  above_fold?: boolean;
  after_first_image?: boolean;
  /** How the server announces it with the document. */
  announced?: "early-hint" | "push";
  /** What the recording browser signalled (RFC 9218). */
  browser?: {
    incremental?: boolean;
    urgency: number;
  };
  /** Bytes of the body as transmitted. */
  bytes: number;
  /** The body becomes available in pieces. */
  chunks?: Array<{
    at_ms: number;
    bytes: number;
  }>;
  critical?: boolean;
  decoded_bytes?: number;
  etag?: string;
  /** For CSS and JS: the order of execution; a resource waits for all with a smaller number. */
  eval_order?: number;
  /** Main-thread time to apply or execute. */
  exec_ms?: number;
  fetchpriority?: "high" | "low" | "auto";
  hero?: boolean;
  /** The index in the list. 0 is the document. */
  id: number;
  in_head?: boolean;
  kind: "html" | "css" | "js" | "font" | "image" | "media" | "xhr" | "other";
  lazy?: boolean;
  main?: boolean;
  mime: string;
  origin?: number;
  prefetch?: boolean;
  preload?: boolean;
  script?: "sync" | "async" | "defer" | "module";
  status?: number;
  trigger: PageTrigger;
  /** A path with its query, percent-encoded. */
  url: string;
  vary?: string;
  /** Server think time. */
  wait_ms?: number;
};

/** Milliseconds. */
export type PageSpread = {
  max: number;
  p50: number;
  p90: number;
};

export type PageTrigger = {
  /** Triggers when this many decoded bytes of `of` have arrived in order. */
  byte?: number;
  /** Negative ones count as 0. */
  delay_ms?: number;
  needs?: Array<number>;
  of?: number;
  on: "nav" | "bytes" | "complete" | "css_import" | "css_applied" | "style_applied" | "exec" | "timer" | "dcl" | "load";
};

/** What `utmost probe --json` prints */
export type Probe = {
  body_bytes: number;
  finding: {
    committed_bytes: number | null;
    control: ProbeInterval;
    /** Measured: the share of the incremental others that had begun before the first was complete. */
    incremental: ProbeHeed;
    inverse: ProbeInterval;
    /** Measured: what came after the PRIORITY_UPDATE and before the response, in multiples of its size. */
    updates: ProbeHeed;
    urgent: ProbeInterval;
    verdict: "prioritizes" | "weakly" | "does-not" | "inconclusive" | "undecided";
    why: string;
  };
  format: "utmost-probe/1";
  others: number;
  path: string;
  provenance: Record<string, unknown>;
  read_bytes_per_ms: number | null;
  rtt_ms: number;
  runs: Array<{
    ahead_bytes: number;
    /** The share of the others that had begun to arrive before the first of them was complete. */
    begun_share: number;
    kind: "control" | "urgent" | "inverse" | "incremental" | "updated";
    late_bytes: number;
    late_ms: number;
    left_bytes: number;
    others_bytes: number;
  }>;
  server: string;
  url: string;
  window_bytes: number;
};

export type ProbeHeed = {
  measured: ProbeInterval;
  verdict: "heeds" | "weakly" | "ignores" | "inconclusive" | "undecided";
  why: string;
};

export type ProbeInterval = {
  high: number | null;
  low: number;
  mean: number;
};

/** What each log contains, and which views it allows. */
export type QlogCheck = {
  format: "utmost-qlog-check/1";
  /** Logs that were not read whole, if there are any, and what was left out: the answer excludes it. */
  incomplete?: Array<{
    file: string;
    reason: string;
  }>;
  provenance: Record<string, unknown>;
  /** Logs that gave no answer, if there are any. */
  refused?: Array<{
    file: string;
    reason: string;
  }>;
  traces: Array<{
    bad_records: number;
    /** Original destination connection ID, or else the group ID. */
    connection: string | null;
    container: "JSON-SEQ" | "NDJSON" | "contained JSON";
    events: number;
    file: string;
    /** file_schema, or qlog_version. */
    format: string | null;
    missing: Array<string>;
    /** Packets that were declared lost; null where the log does not say it. */
    packets_lost: number | null;
    packets_received: number;
    packets_sent: number;
    records: number;
    repairs: Array<{
      count: number;
      /** Counted from 1; 0 for the whole file. */
      first_record?: number;
      what: string;
    }>;
    /** Distinct stream bytes in the direction of the requests: uploads, and control streams. Those of the responses are in unique_stream_bytes. */
    request_bytes: number;
    /** The program that wrote the log, as recognised, or as the log gives it. */
    stack: string | null;
    stack_version: string | null;
    start: string | null;
    stream_frames: number;
    title: string | null;
    /** The number in its file, as `convert --trace` expects it. */
    trace: number;
    /** Distinct stream bytes in the direction of the responses, over all streams, HTTP framing included. */
    unique_stream_bytes: number;
    /** Events that no known schema names. */
    unknown_events: number;
    vantage: "client" | "server" | "network" | "unknown";
    /** true, or the reason why not. */
    views: Record<string, true | string>;
  }>;
};

/** Resources of two or more runs side by side; the first run is the baseline. */
export type QlogCompare = {
  baseline: string;
  format: "utmost-qlog-compare/1";
  /** Logs that were not read whole, if there are any, and what was left out: the answer excludes it. */
  incomplete?: Array<{
    file: string;
    reason: string;
  }>;
  provenance: Record<string, unknown>;
  /** Logs that gave no answer, if there are any. */
  refused?: Array<{
    file: string;
    reason: string;
  }>;
  resources: Array<{
    bytes: number | null;
    runs: Array<null | {
      /** Bytes of other streams before it was complete, repeated ones included. */
      bytes_before: number | null;
      complete_ms: number | null;
      /** How much later its first byte came than in the first run. */
      first_later_ms: number | null;
      first_ms: number | null;
      index_later_ms: number | null;
      index_ms: number | null;
      /** How much later it was complete than in the first run. */
      later_ms: number | null;
      /** How many more bytes of others came before it was complete than in the first run. */
      more_bytes_before: number | null;
      /** In the order of completion, from 1. */
      place: number | null;
      /** By how many places it was complete later than in the first run. */
      places_later: number | null;
      requested_ms: number | null;
      stream: number;
    }>;
    url: string;
  }>;
  runs: Array<{
    byte_index: {
      all: number | null;
      atf: number | null;
    };
    file: string;
    /** Resources that are also in the first run. */
    in_common: number;
    name: string;
    speedup: {
      all: number | null;
      atf: number | null;
    };
    /** The number in its file, as `convert --trace` expects it. */
    trace: number;
    vantage: "client" | "server" | "network" | "unknown";
  }>;
};

/** Head-of-line blocking of each connection. */
export type QlogHol = {
  format: "utmost-qlog-hol/1";
  /** Logs that were not read whole, if there are any, and what was left out: the answer excludes it. */
  incomplete?: Array<{
    file: string;
    reason: string;
  }>;
  provenance: Record<string, unknown>;
  /** Logs that gave no answer, if there are any. */
  refused?: Array<{
    file: string;
    reason: string;
  }>;
} & (QlogHolConnection | QlogHolConnections);

export type QlogHolConnection = {
  bytes: number;
  connection?: string | null;
  /** Whether the order of sending comes from the server's log and is not estimated. */
  exact: boolean;
  /** The client's log. */
  file?: string;
  /** The waiting time that one order for all streams would add. */
  inter: {
    bytes_ms: number;
    delayed_share: number;
    mean_ms: number;
    p95_ms: number;
  };
  /** Waiting within the stream. */
  intra: {
    bytes_ms: number;
    delayed_share: number;
    mean_ms: number;
    p95_ms: number;
  };
  largest_stack: {
    bytes: number;
    frames: number;
  };
  largest_stack_in_one_order: {
    bytes: number;
    frames: number;
  };
  /** The bytes that waited longest within their stream; null where none waited. */
  longest?: {
    /** On the client's clock. */
    arrived_ms: number;
    /** Of the first of them. */
    offset: number;
    stream: number;
    wait_ms: number;
  } | null;
  /** The server's log, if available. */
  server_file?: string | null;
  streams: Array<{
    bytes: number;
    completion_gain_ms: number;
    id: number;
    inter_ms: number;
    intra_ms: number;
  }>;
  /** The number of the connection in the file. */
  trace?: number;
};

export type QlogHolConnections = {
  connections: Array<QlogHolConnection>;
};

/** Every metric under its name (docs/metrics.md lists them); atf is null without a page or set. */
export type QlogIndex = {
  format: "utmost-qlog-index/1";
  /** Logs that were not read whole, if there are any, and what was left out: the answer excludes it. */
  incomplete?: Array<{
    file: string;
    reason: string;
  }>;
  provenance: Record<string, unknown>;
  /** Logs that gave no answer, if there are any. */
  refused?: Array<{
    file: string;
    reason: string;
  }>;
  traces: Array<{
    file: string;
    name: string;
    /** Why a number is missing. */
    note: string | null;
    resources: Array<{
      bytes: number | null;
      complete_ms: number | null;
      id: number;
      requested_ms: number | null;
      url: string;
    }>;
    /** The ByteIndex of the first log of the same side divided by this one's; null with one log. */
    speedup: null | QlogIndexMetric;
    /** The bytes that arrived of responses after the client cancelled them; null if it cancelled nothing. */
    tail: null | {
      cancelled: number;
      tail_bytes: number;
      /** From the first cancel to the last of these bytes. */
      tail_ms: number;
    };
    /** The number in its file, as `convert --trace` expects it. */
    trace: number;
    vantage: "client" | "server" | "network" | "unknown";
    /** Further names have the type QlogIndexMetric. */
    [name: string]: unknown;
  }>;
};

/** A value over all resources and one over those above the fold; null where the set did not complete. Render times have one value, which stands in both; null in logs of other clients. */
export type QlogIndexMetric = {
  all: number | null;
  atf: number | null;
};

/** What held the sender of each log back. */
export type QlogLimits = {
  format: "utmost-qlog-limits/1";
  /** Logs that were not read whole, if there are any, and what was left out: the answer excludes it. */
  incomplete?: Array<{
    file: string;
    reason: string;
  }>;
  provenance: Record<string, unknown>;
  /** Logs that gave no answer, if there are any. */
  refused?: Array<{
    file: string;
    reason: string;
  }>;
} & (QlogLimitsTrace | QlogLimitsTraces);

export type QlogLimitsTrace = {
  /** Assumptions that were necessary because the log lacks an event, in sentences. */
  assumed: Array<string>;
  /** logged: as the server's send loop logged it; scheduler_calls: computed, with the calls of our server's scheduler; computed: from events of any stack. */
  basis: "logged" | "scheduler_calls" | "computed";
  /** The ID of the connection, as the log names it. */
  connection: string | null;
  /** From the first packet to the last event. */
  duration_ms: number;
  file: string;
  /** The restraints, each with its interval, on the log's clock, in order and without gaps. */
  spans: Array<{
    by: "handshake" | "address_validation" | "application" | "congestion_window" | "acknowledgements" | "connection_flow_control" | "stream_flow_control" | "pacing" | "scheduler" | "nothing";
    from_ms: number;
    to_ms: number;
  }>;
  /** Each restraint once. Where several held at once, the first of this order counts. */
  totals: Array<{
    by: "handshake" | "address_validation" | "application" | "congestion_window" | "acknowledgements" | "connection_flow_control" | "stream_flow_control" | "pacing" | "scheduler" | "nothing";
    ms: number;
    percent: number;
  }>;
  /** The number in its file, as `convert --trace` expects it. */
  trace: number;
};

export type QlogLimitsTraces = {
  traces: Array<QlogLimitsTrace>;
};

/** What broke the rules in each log. */
export type QlogLint = {
  format: "utmost-qlog-lint/1";
  /** Logs that were not read whole, if there are any, and what was left out: the answer excludes it. */
  incomplete?: Array<{
    file: string;
    reason: string;
  }>;
  provenance: Record<string, unknown>;
  /** Logs that gave no answer, if there are any. */
  refused?: Array<{
    file: string;
    reason: string;
  }>;
} & (QlogLintTrace | QlogLintTraces);

export type QlogLintTrace = {
  basis: string;
  cannot_judge: string | null;
  file: string;
  inversion_bytes: number;
  /** How many violations there are; the list has the first 65536. */
  packets_broken: number;
  packets_checked: number;
  /** The number in its file, as `convert --trace` expects it. */
  trace: number;
  violations: Array<{
    expected_stream: number;
    rule: string;
    stream: number;
    time_ms: number;
  }>;
};

export type QlogLintTraces = {
  traces: Array<QlogLintTrace>;
};

/** Frames of one stream in a row: [stream, frames, bytes, first_ms, last_ms], times since the first request. */
export type QlogRibbon = {
  format: "utmost-qlog-ribbon/1";
  /** Logs that were not read whole, if there are any, and what was left out: the answer excludes it. */
  incomplete?: Array<{
    file: string;
    reason: string;
  }>;
  provenance: Record<string, unknown>;
  /** Logs that gave no answer, if there are any. */
  refused?: Array<{
    file: string;
    reason: string;
  }>;
  traces: Array<{
    file: string;
    name: string;
    runs: Array<Array<number>>;
  }>;
};

/** Each stream of each log. Times are milliseconds on the log's clock. */
export type QlogStreams = {
  format: "utmost-qlog-streams/1";
  /** Logs that were not read whole, if there are any, and what was left out: the answer excludes it. */
  incomplete?: Array<{
    file: string;
    reason: string;
  }>;
  provenance: Record<string, unknown>;
  /** Logs that gave no answer, if there are any. */
  refused?: Array<{
    file: string;
    reason: string;
  }>;
  traces: Array<{
    bad_records: number;
    /** Whether the server's log says why bytes came late or twice. Otherwise packet numbers tell, which is a guess. */
    causes_exact: boolean;
    /** Original destination connection ID, or else the group ID. */
    connection: string | null;
    container: "JSON-SEQ" | "NDJSON" | "contained JSON";
    events: number;
    file: string;
    /** file_schema, or qlog_version. */
    format: string | null;
    missing: Array<string>;
    /** Control, QPACK and unknown streams. */
    other_streams: Array<QlogStreamsStream>;
    /** Packets that were declared lost; null where the log does not say it. */
    packets_lost: number | null;
    packets_received: number;
    packets_sent: number;
    records: number;
    repairs: Array<{
      count: number;
      /** Counted from 1; 0 for the whole file. */
      first_record?: number;
      what: string;
    }>;
    /** Distinct stream bytes in the direction of the requests: uploads, and control streams. Those of the responses are in unique_stream_bytes. */
    request_bytes: number;
    /** The program that wrote the log, as recognised, or as the log gives it. */
    stack: string | null;
    stack_version: string | null;
    start: string | null;
    stream_frames: number;
    /** Requests and pushes. */
    streams: Array<QlogStreamsStream>;
    title: string | null;
    /** The number in its file, as `convert --trace` expects it. */
    trace: number;
    /** Distinct stream bytes in the direction of the responses, over all streams, HTTP framing included. */
    unique_stream_bytes: number;
    /** Events that no known schema names. */
    unknown_events: number;
    /** Streams in the direction of the requests that carry more than requests: uploads, other protocols. */
    uploads: Array<QlogStreamsStream>;
    vantage: "client" | "server" | "network" | "unknown";
  }>;
};

export type QlogStreamsStream = {
  body_bytes: number | null;
  /** Distinct stream bytes. */
  bytes: number;
  complete_ms: number | null;
  /** Bytes that had come already: sent again in vain. A server's log without acknowledgements does not tell. */
  duplicate_bytes: number | null;
  first_ms: number | null;
  frames: number;
  id: number;
  last_ms: number | null;
  /** The latest signal about it. */
  priority: string | null;
  /** Bytes that others had overtaken on the way. */
  reordered_bytes: number;
  requested_ms: number | null;
  /** Bytes that were lost and came when they were sent again. In a server's log all bytes that were sent again. */
  retransmitted_bytes: number;
  role: "request" | "push" | "control" | "qpack" | "other";
  status: number | null;
  url: string | null;
};

/** What happened on each connection: sentences, and each number in them. Times are milliseconds on the clock of their log. */
export type QlogSummary = {
  format: "utmost-qlog-summary/1";
  /** Logs that were not read whole, if there are any, and what was left out: the answer excludes it. */
  incomplete?: Array<{
    file: string;
    reason: string;
  }>;
  /** What moved from the first of two connections to the second, in sentences. */
  moved?: Array<string>;
  /** Why logs with the same connection ID are not joined, and which logs repeat another and count once, in sentences. */
  not_joined?: Array<string>;
  provenance: Record<string, unknown>;
  /** Logs that gave no answer, if there are any. */
  refused?: Array<{
    file: string;
    reason: string;
  }>;
} & (QlogSummaryConnection | QlogSummaryConnections);

export type QlogSummaryConnection = {
  /** For how long the other end held acknowledgements back, by its own words; null where that is not logged. */
  ack_delay: QlogSummarySpread;
  /** The ACK frames that came for the sender's 1-RTT packets; null without any. */
  acknowledgements: {
    /** For how long each says that it was held back. */
    delays_ms: QlogSummaryDistribution;
    /** Packets by the mark they came with, as the last frame says that says it. */
    ecn: {
      ce: number;
      ect0: number;
      ect1: number;
    } | null;
    frames: number;
    /** From one to the next. */
    intervals_ms: QlogSummaryDistribution;
    /** The number of packets that each acknowledged for the first time. */
    packets: QlogSummaryDistribution;
    /** Of how many ranges each consisted. */
    ranges: QlogSummaryDistribution;
  } | null;
  /** What it had announced as the most. */
  announced_ack_delay_ms: number | null;
  connection: string | null;
  /** From the first packet to the last event of the sender's log. */
  duration_ms: number;
  /** How the connection and its responses ended. Times are on the client's clock, if there is a client's log. */
  ending: {
    /** How the connection ended; null where that is not logged. */
    close: {
      /** null: not logged. */
      by: "client" | "server" | null;
      error: QlogSummaryError;
      how: "closed" | "idle_timeout" | "handshake_timeout" | "version_mismatch" | "stateless_reset";
      reason: string | null;
      time_ms: number;
    } | null;
    /** Streams that an end gave up with an error, without pushed responses. */
    given_up: Array<{
      /** The end that did so first; null: not logged. */
      by: "client" | "server" | null;
      error: QlogSummaryError;
      /** Whether it was the receiver (STOP_SENDING), not the sender (RESET_STREAM). */
      is_stop: boolean;
      stream: number;
      time_ms: number;
    }>;
    /** Those that were requested. */
    responses: number;
    /** The streams of those that did not finish; null where the log does not tell. */
    unfinished: Array<number> | null;
  };
  /** The client's log or, without one, the server's. */
  file: string;
  flow: {
    /** Distinct bytes of responses, in bits a second, while some response was asked for and not complete. */
    goodput_bits_per_s: number;
    path_basis: "arrivals" | "acknowledgements" | null;
    /** What the path carried while packets waited for one another on it, in bits a second; null where no log shows that. */
    path_bits_per_s: number | null;
    /** The rate that nine of ten intervals of some 20 ms did not exceed, whatever limited it. */
    seen_bits_per_s: number | null;
    under_way_ms: number;
  } | null;
  /** What held the sender back longest while it had work; null where the log does not tell. */
  held: {
    by: "handshake" | "address_validation" | "application" | "congestion_window" | "acknowledgements" | "connection_flow_control" | "stream_flow_control" | "pacing" | "scheduler" | "nothing";
    /** What was behind the restraint. */
    cause: "handshake" | "address_validation" | "think_time" | "application" | "congestion_window" | "loss" | "congestion_marks" | "reordering" | "queue" | "probe_timeout" | "connection_flow_control" | "stream_flow_control" | "pacing" | "scheduler" | "nothing";
    /** The most that flow control let be under way, where that held the sender back. */
    credit_bytes: number | null;
    held_ms: number;
    /** The longest time at once. */
    longest: {
      by: "handshake" | "address_validation" | "application" | "congestion_window" | "acknowledgements" | "connection_flow_control" | "stream_flow_control" | "pacing" | "scheduler" | "nothing";
      from_ms: number;
      to_ms: number;
    };
    /** When mostly another restraint held. */
    phases: Array<{
      by: "handshake" | "address_validation" | "application" | "congestion_window" | "acknowledgements" | "connection_flow_control" | "stream_flow_control" | "pacing" | "scheduler" | "nothing";
      from_ms: number;
      to_ms: number;
    }>;
    /** Of the time with work, 0 to 1. */
    share: number;
    /** The stream that was sent last before that; for a slow server, the one that waited. */
    stream: number | null;
    /** In the handshake, and from each request to the last frame of its response. */
    working_ms: number;
  } | null;
  /** Whether most stream bytes were uploads, and the client's log is here: then the sender is the client. */
  is_upload: boolean;
  /** Whether the client's log is there, which tells how long bytes waited. */
  knows_waits: boolean;
  /** The bytes that waited longest behind a hole in their stream. */
  longest_wait: {
    arrived_ms: number;
    offset: number;
    stream: number;
    wait_ms: number;
  } | null;
  /** Why it is not known what held the sender back. */
  not_held: string | null;
  /** How a server's packets that ask for acknowledgements were spread over the time with work; null of a client's log alone. */
  pacing: {
    /** Their bytes. */
    burst_bytes: QlogSummaryDistribution;
    /** Packets per burst: packets sent at most 0.1 ms after the preceding one. */
    burst_packets: QlogSummaryDistribution;
    /** From one packet to the next. */
    gaps_ms: QlogSummaryDistribution;
  } | null;
  /** What the packets of the sender's log carried. */
  packetization: {
    /** The share of the stream bytes of complete responses, and of control and QPACK streams, that is not a body. */
    http_overhead_share: number | null;
    /** The largest packet sent that was acknowledged: so much the path carries. */
    largest_acknowledged_bytes: number | null;
    received: QlogSummaryPackets;
    sent: QlogSummaryPackets;
  };
  packets_sent: number;
  recovery: {
    cuts_undone: number;
    /** Stream bytes sent again that had arrived. */
    in_vain_bytes: number | null;
    /** Packets declared lost, of all spaces; null where the stack does not log that. */
    lost: number | null;
    /** Initial and Handshake packets among them. */
    lost_in_handshake: number;
    /** Probes of the path's MTU among them: their loss does not show congestion. */
    lost_mtu_probes: number;
    lost_share: number | null;
    /** Congestion marks (ECN) that cut it, without a loss. */
    mark_cuts: number;
    /** The share of the server's packets that never came: exactly with the logs of both ends; of a client's log alone, what it shows at least. */
    never_came_share: number | null;
    /** null: the log does not tell. */
    periods_basis: "logged" | "inferred" | null;
    persistent_congestion: number;
    probe_timeouts: number;
    recovery_periods: number;
    /** Stream bytes sent again that had not arrived. */
    sent_again_bytes: number;
    /** Those that had arrived, by acknowledgements and by the client's log; null where the log does not say which were declared lost. */
    spurious: number | null;
    /** null: the log does not tell. */
    timeouts_basis: "logged" | "inferred" | null;
    /** Losses that cut the congestion window. */
    window_cuts: number;
  };
  /** Distinct bytes of responses, without control streams and others that nobody requested. */
  response_bytes: number;
  /** Null where none was measured. */
  round_trips: QlogSummarySpread;
  sentences: Array<{
    about: "cause" | "changes" | "ending" | "goodput" | "losses" | "probe_timeouts" | "round_trips" | "longest_wait" | "lint" | "repairs";
    moment: {
      /** Whether it is in the server's log, on its clock. */
      is_server: boolean;
      packet: number | null;
      stream: number | null;
      time_ms: number;
    } | null;
    text: string;
  }>;
  /** The server's log beside the client's. */
  server_file: string | null;
  side: "both ends" | "client" | "server" | "network" | "unknown";
  /** The program that wrote the server's log, or else the client's. */
  stack: string;
  trace: number;
};

export type QlogSummaryConnections = {
  connections: Array<QlogSummaryConnection>;
};

export type QlogSummaryDistribution = {
  /** A histogram: how many values are in each range, in order and without gaps. */
  bars: Array<{
    count: number;
    /** A power of two: the largest value that it counts. */
    up_to: number;
  }>;
  count: number;
  least: number;
  median: number;
  most: number;
  p95: number;
} | null;

/** An error code. */
export type QlogSummaryError = {
  /** null: not logged as a number. */
  code: number | null;
  /** Whether it is the application's, not the transport's; null: not logged. */
  is_application: boolean | null;
  /** Its name in the RFCs, or the log's. */
  name: string | null;
};

/** The packets of one direction; null without any. */
export type QlogSummaryPackets = {
  /** 0 where they are not logged. */
  bytes: number;
  /** Data in DATAGRAM frames. */
  datagram_bytes: number;
  /** UDP datagrams: one may hold several packets. */
  datagrams: number;
  /** Inferred: packets of different spaces at the same moment count as one. */
  datagrams_basis: "logged" | "inferred";
  /** By kind, the most frequent first. */
  frames: Array<{
    count: number;
    /** Of STREAM, CRYPTO, DATAGRAM and PADDING frames whose length is logged. */
    data_bytes: number;
    kind: string;
  }>;
  /** How long the packets were, in bytes. */
  lengths: QlogSummaryDistribution;
  /** The share of the packets' bytes outside of both: headers, tags, other frames, padding. */
  overhead_share: number | null;
  packets: number;
  /** Null where the lengths of PADDING frames are not logged. */
  padding_bytes: number | null;
  /** Data in STREAM frames, repeated bytes included. */
  stream_bytes: number;
} | null;

export type QlogSummarySpread = {
  least_ms: number;
  longest_at_ms: number;
  longest_ms: number;
  median_ms: number;
  p95_ms: number;
} | null;

/** The scheduler's tree at times of a server's log. */
export type QlogTree = {
  format: "utmost-qlog-tree/1";
  log: string;
  provenance: Record<string, unknown>;
  trees: Array<{
    /** On the log's clock. */
    at_ms: number;
    nodes: Array<QlogTreeNode>;
    /** The scheme's full name, with parameters and variants. */
    scheme: string;
  }>;
};

export type QlogTreeNode = {
  active: boolean;
  depth: number;
  element: string;
  /** A node with a lower number goes first, strictly. */
  level: number;
  /** The last part of its path, or what the scheme calls the group. */
  name: string;
  /** Within the level, a lower number goes first, strictly. */
  order: number;
  own_share: QlogTreeShare;
  /** Null for the root. */
  parent: string | null;
  ready: boolean;
  /** The share of the connection for the node and everything below it. */
  share: QlogTreeShare;
  weight: number;
};

export type QlogTreeShare = number;

/** A published table or figure, reproduced: our values next to the published ones. */
export type Reproduction = {
  /** Whether every condition holds; null if no row has one. */
  all_hold: boolean | null;
  format: "utmost-reproduction/2";
  /** How our values were made. */
  method: string;
  /** The experiment. */
  name: string;
  provenance: Record<string, unknown>;
  rows: Array<{
    /** Names the row in its experiment. */
    id: string;
    /** The 95 % interval of our value, if it has one: a bootstrap over pages. */
    interval?: Array<number>;
    /** The measured quantity. */
    metric: string;
    /** The value of our own model, if there is one. */
    model?: number;
    /** The publication's statement, and the reason for our deviation. */
    note: string;
    /** Our value, to four decimals, or null. */
    ours: number | null;
    /** The published value; null if the publication gives it only in words. */
    published: number | null;
    /** The publication's table that the row belongs to, if there are several. */
    table?: string;
    /** The conditions on our value, by who sets them, and whether they hold; all null if the row is only shown for comparison. */
    verdicts: {
      /** Why the first two differ, as far as the three values tell; empty where they agree. */
      difference: string;
      /** By our own model of what was published. */
      model: ReproductionVerdict;
      /** By this project alone. */
      requirement: ReproductionVerdict;
      /** By the publication: its value or its words. */
      source: ReproductionVerdict;
    };
  }>;
  /** The publication, with the page number. */
  source: string;
  /** Results beyond what was published, if there are any. */
  tables?: Array<{
    /** Names of the columns of values. */
    columns: Array<string>;
    /** The quantity, with its unit. */
    heading: string;
    /** Names of the labels of a line. */
    labels: Array<string>;
    lines: Array<{
      labels: Array<string>;
      values: Array<ReproductionEstimate>;
    }>;
  }>;
};

export type ReproductionEstimate = {
  /** The 95 % interval, if it has one. */
  interval?: Array<number>;
  /** To four decimals; null where there is none. */
  value: number | null;
};

export type ReproductionVerdict = {
  condition: string;
  holds: boolean;
  /** True if the 95 % interval of our value contains values that would turn the verdict. */
  open?: true;
} | null;

/** utmost-scenario/1: requests whose responses become ready at known times */
export type Scenario = {
  description?: string;
  format?: "utmost-scenario/1";
  name: string;
  /** Reference orders, by scheme. */
  orders?: Record<string, Array<ScenarioRun>>;
  packet_bytes?: number;
  requests: Array<ScenarioRequest>;
  /** The client's signals about the tree. Signals of a slot come after its requests. */
  signals?: Array<ScenarioSignal>;
};

export type ScenarioCount = number;

export type ScenarioElement = string;

export type ScenarioRequest = {
  arrival_slot?: ScenarioCount;
  bytes: ScenarioCount;
  /** The name in figures. */
  name?: string;
  resource: ScenarioResource;
  stream: number;
  wait_slots?: ScenarioCount;
};

export type ScenarioResource = {
  above_fold?: boolean;
  after_first_image?: boolean;
  async?: boolean;
  critical?: boolean;
  defer?: boolean;
  in_head?: boolean;
  lazy?: boolean;
  main?: boolean;
  mime: string;
  prefetch?: boolean;
  preload?: boolean;
};

/** First slot, stream, number of packets in consecutive slots, bytes of the last packet. */
export type ScenarioRun = [ScenarioCount, ScenarioCount, number, number];

/** A PRIORITY frame of the dependency tree (HTTP/3 drafts 20 and 22). */
export type ScenarioSignal = {
  element: ScenarioElement;
  exclusive?: boolean;
  parent: ScenarioElement;
  slot?: ScenarioCount;
  weight?: number;
};

/** What `utmost schemes --check FILE --json` prints */
export type SchemeCheck = {
  about: string;
  /** The rules that it was held to. */
  checks: Array<{
    /** How it is broken; null where it holds. */
    broken: string | null;
    /** What it was tried on. */
    on: string;
    rule: string;
  }>;
  format: "utmost-scheme-check/2";
  /** The scheme's name. */
  scheme: string;
  /** Whether a script decides rather than places. */
  script: boolean;
  /** Of the file. */
  sha256: string;
  /** What its clients signal. */
  signals: string;
};

/** Every scheme of the server, and the reference orders of `compare`. */
export type Schemes = {
  format: "utmost-schemes/1";
  /** The suffixes that any scheme's name may have. */
  guard: string;
  schemes: Array<{
    /** What the scheme does. */
    about: string;
    /** The best or the worst order of a page; a reference for `compare`, not a scheme. */
    bracket: boolean;
    /** Whether `all` includes it. */
    in_all: boolean;
    /** As on the command line. */
    name: string;
    /** The parameters that may follow a colon after the name; empty if there are none. */
    parameters: string;
    /** Nodes of the scheme's tree that are not streams. */
    placeholders: number;
    /** Increases when the scheme's behaviour changes. */
    revision: number;
    /** The form in which a client signals the scheme; `no`: no client can. */
    signals: "silence" | "tree frames" | "bucket byte" | "RFC 9218" | "no";
    /** The paper, RFC or browser that the scheme comes from. */
    source: string;
  }>;
};

/** The session that `utmost play --session` keeps for the next visit. It is secret. */
export type Session = {
  format: "utmost-session/1";
  /** The server's name. */
  host: string;
  /** The server's HTTP/3 settings, as the payload of a SETTINGS frame; base64. */
  settings: string;
  /** The TLS session and the transport parameters, as quiche writes them; base64. */
  transport: string;
  /** Whether the server's certificate was checked. */
  verified: boolean;
};

/** The output of `utmost-workshop stress --soak --json`: what guests of a server saw for a long time, beside one attack after another. */
export type Soak = {
  format: "utmost-soak/1";
  provenance: Record<string, unknown>;
  soak: {
    /** Open descriptors of the server in the second half; null as memory is. */
    descriptors: SoakTrend | null;
    /** What did not hold; empty: everything did. */
    failures: Array<string>;
    /** Resident bytes of the server in the second half; null without --process, or with few rounds. */
    memory: SoakTrend | null;
    /** In the order of time. */
    rounds: Array<SoakRound>;
    seen: SoakSeen;
  };
};

export type SoakCount = number;

/** An attack, and the time of peace before it. */
export type SoakRound = {
  /** Its name, as `utmost-workshop stress --list` shows it. */
  attack: string;
  /** Complete and correct bodies. */
  bodies: SoakCount;
  /** Open descriptors of the server, the median of the round; null without --process. */
  descriptors: number | null;
  /** When the round ended, in seconds from the start. */
  ended_s: number;
  /** Resident bytes of the server, the median of the round; null without --process. */
  memory_bytes: number | null;
  /** The most of them; null without --process. */
  memory_most: number | null;
  /** Half of them took no longer; null: there were none. */
  p50_ms: number | null;
  /** 99 of 100 took no longer; null: there were none. */
  p99_ms: number | null;
};

/** What all guests did and saw. */
export type SoakSeen = {
  /** Complete and correct bodies. */
  bodies: SoakCount;
  /** Their bytes. */
  body_bytes: SoakCount;
  /** Requests that a guest took back. */
  cancelled: SoakCount;
  /** Connections whose handshakes were complete. */
  connections: SoakCount;
  /** Times that a guest's address changed. */
  moves: SoakCount;
  /** Those of them that resumed a session. */
  resumed: SoakCount;
  /** Uploads that were answered, whatever the answer. */
  uploads: SoakCount;
  /** What was wrong, and how often. */
  wrong: Record<string, number>;
};

/** A straight line through the figures of rounds (Theil and Sen). */
export type SoakTrend = {
  /** The 95 % interval of that. */
  interval: [number, number];
  /** How far a figure is from the line: 1.4826 times the median distance. */
  noise: number;
  /** How much they rise in an hour. */
  per_hour: number;
  /** How much they rise from the first round to the last. */
  rise: number;
};

/** The output of `utmost-workshop stress --json`: attacks on a server, and what its visitors noticed. */
export type Stress = {
  attacks: Array<StressOutcome>;
  format: "utmost-stress/3";
};

export type StressOutcome = {
  /** Bytes that the server sent to unproven addresses for each byte from there; null unless the attack sends some. */
  amplification: number | null;
  /** Its name, as `utmost-workshop stress --list` shows it. */
  attack: string;
  /** The codes with which the server closed connections of the attacker, in decimal, and how often. */
  codes: Record<string, number>;
  /** What did not hold. */
  failures: Array<string>;
  /** Resident bytes of the server before the attack, at most, and after it; null without --process. */
  memory_bytes: Array<number> | null;
  /** The share of the machine's CPU time that programs beside the server and this one took; null without --process. */
  others_cpu_share: number | null;
  /** Loads without success in all phases. */
  refused: number;
  /** Late loads, where others took more than a tenth of the machine's CPU time. The server held if this and `failures` are empty. */
  undecided: Array<string>;
  /** Those over HTTP/3; beside attacks over TCP also those over HTTP/2 and HTTP/1.1. */
  visitors: Array<StressVisited>;
};

/** What visitors got in one phase. */
export type StressServed = {
  /** Half of the loads took no longer; null: there were none. One that was not answered counts with the time until it was given up. */
  p50_ms: number | null;
  /** 99 of 100 loads took no longer; null: there were none. */
  p99_ms: number | null;
  responses: number;
  /** The same, as a share of what a server would have given that answers at once. */
  share_of_wanted: number;
};

export type StressVisited = {
  after: StressServed;
  before: StressServed;
  during: StressServed;
  protocol: "HTTP/3" | "HTTP/2" | "HTTP/1.1";
};

/** The output of `utmost compare --json` and `utmost play --json`: page loads, and statistics of each scheme in each setting (network, send buffer, congestion control, HTTP version, queue, round trip, rate, loss, cross traffic, push policy, gate, hints, migration, use of signals). Times are milliseconds from the first request. */
export type Study = {
  /** The baseline of speedups. Absent where nothing is compared. */
  baseline?: string;
  /** Each scheme against the baseline. */
  comparisons: Array<StudyComparison>;
  format: "utmost-study/1";
  /** Each scheme's ratio over the baseline in one setting divided by that in another one that differs in one dimension. Absent without any. */
  interactions?: Array<StudyInteraction>;
  /** The metric that speedups compare. */
  metric: string;
  page_summary: Array<StudyPageRow>;
  /** What the pages are like. Absent where nothing is compared. */
  pages?: Array<StudyPageFacts>;
  /** Each two schemes: `baseline` names the one that comes first. `holm_p` is adjusted for all pairs of the setting. Absent with one scheme. */
  pairs?: Array<StudyComparison>;
  provenance: StudyProvenance;
  rank_correlations: Array<StudyRankCorrelation>;
  runs: Array<StudyRun>;
  summary: Array<StudyRow>;
  /** The schemes that place alike or whose every load is the same, each with the one that stands for both: `holm_p` counts them once. Absent without any. */
  twins?: Record<string, string>;
  /** With --weights: how much pages count in `summary`. `covered`: the share of the population whose strata of requests have a page; `effective_sites`: the number of sites of equal weight that would tell as much. */
  weights?: {
    covered: number;
    effective_sites: number;
    pages: Record<string, number>;
    population: "web";
  };
};

export type StudyAboveFold = {
  atf: number | null;
};

export type StudyCc = "bbr2" | "cubic" | "reno";

/** One scheme compared with the baseline in one setting. A ratio above 1 means that the scheme is better. A pair is a site, whose pages count as the geometric mean of their ratios; in a study of one page, a pair is two loads with the same seed; over links without chance, and where all loads are the same, they count as one. With fewer than six pairs there is no interval, no effect and no p. */
export type StudyComparison = {
  baseline: string;
  /** Where the study varies it. */
  cc?: StudyCc;
  /** Where the study varies it. */
  cross?: StudyCross;
  /** Where the study varies it. */
  gate?: StudyGate;
  /** Of the pages' ratios. */
  geometric_mean_ratio: StudyIndices;
  /** 95 % interval by a studentised bootstrap of the mean logarithm: sites, each with all of its pages, are resampled; of a single page, its loads. */
  geometric_mean_ratio_interval: StudyIntervals;
  /** Where the study varies it. */
  hints?: StudyHints;
  /** Hodges and Lehmann's estimate over pairs. */
  hodges_lehmann_ratio: StudyIndices;
  /** The same, adjusted by Holm for the schemes of the setting. */
  holm_p: StudyProbabilities;
  /** Where the study varies it. */
  http?: StudyHttp;
  /** Where the study varies it. */
  loss?: StudyLoss;
  /** Pairs in which the baseline is better. */
  losses: StudyCounts;
  /** Where the study varies it. */
  migration?: StudyMigration;
  network: string;
  /** Pages with a ratio. */
  pages: StudyCount;
  pairs: StudyCounts;
  pairs_of: "sites" | "loads";
  /** Where the study varies it. */
  push?: StudyPush;
  /** Where the study varies it. */
  queue?: StudyQueue;
  /** Matched-pairs rank-biserial correlation (Kerby, 2014). */
  rank_biserial: {
    all: StudyCorrelation;
    atf: StudyCorrelation;
  };
  /** Where the study varies it. */
  rate?: StudyRate;
  /** Pages with a ratio of each set. */
  ratio_pages: StudyCounts;
  /** Where the study varies it. */
  rtt_ms?: StudyRttMs;
  scheme: string;
  send_buffer_bytes: StudyCount;
  /** Where the study varies it. */
  signals?: StudySignals;
  /** Sites and templates that the pages come from. */
  sites: StudyCount;
  /** Pairs in which both are equal. */
  ties: StudyCounts;
  /** Where the study varies it. */
  warm_up_bytes?: StudyCount;
  /** exact up to 50 pairs that differ, else normal. */
  wilcoxon_method: {
    all: "exact" | "normal" | null;
    atf: "exact" | "normal" | null;
  };
  /** Two-sided, of Wilcoxon's signed-rank test; zeros by Pratt's rule. */
  wilcoxon_p: StudyProbabilities;
  /** The better of the two, if the adjusted p is below 0.05 and the interval does not contain 1. */
  winner: {
    all: string | null;
    atf: string | null;
  };
  /** Pairs in which the scheme is better. */
  wins: StudyCounts;
};

export type StudyCorrelation = number | null;

export type StudyCount = number;

/** For all resources and for those above the fold; null without such resources. */
export type StudyCounts = {
  all: number | null;
  atf: number | null;
};

export type StudyCross = string;

export type StudyGate = string;

export type StudyHints = "none" | "preload" | "early-hints";

export type StudyHttp = "1.1" | "2" | "3";

/** Milliseconds, for all resources and for those above the fold; null without such resources. A render time has one value, which stands in both. */
export type StudyIndices = {
  all: number | null;
  atf: number | null;
};

/** The ratio of a scheme over the baseline in `setting` divided by that in `other_setting`, over sites: above 1, the ratio is higher in `setting`. The settings differ in one dimension. */
export type StudyInteraction = {
  baseline: string;
  /** Whether the adjusted p is below 0.05 and the interval does not contain 1; null without a test. */
  differs: {
    all: boolean | null;
    atf: boolean | null;
  };
  /** The key of the settings in which the two differ. */
  dimension: string;
  /** The same p, adjusted by Holm for all schemes and all two values of the dimension. */
  holm_p: StudyProbabilities;
  other_setting: StudySetting;
  /** The geometric mean over pages. */
  ratio_of_ratios: StudyIndices;
  ratio_of_ratios_interval: StudyIntervals;
  scheme: string;
  setting: StudySetting;
  /** Sites with both ratios. */
  sites: StudyCounts;
  wilcoxon_p: StudyProbabilities;
};

export type StudyInterval = Array<number> | null;

/** Lower and upper end, for all resources and for those above the fold; null if there are too few loads. */
export type StudyIntervals = {
  all: StudyInterval;
  atf: StudyInterval;
};

export type StudyLoss = number;

export type StudyMigration = "none" | "MigSW" | "MigSP" | "MigCP";

/** What a page is like. `pages.csv` has these in columns of the same names. */
export type StudyPageFacts = {
  /** The number of resources above the fold. */
  atf_resources: number;
  /** The share of bytes above the fold. */
  atf_share: number;
  /** The bytes of all bodies. */
  body_bytes: number;
  /** The share of bytes that are stylesheets. */
  css_share: number;
  /** The longest chain of discoveries. */
  depth: number;
  /** The share of bytes that are fonts. */
  font_share: number;
  /** The number of hero images. */
  heroes: number;
  /** The number of hosts. */
  hosts: number;
  /** The share of bytes that are HTML. */
  html_share: number;
  /** The share of bytes that are images. */
  image_share: number;
  /** The share of bytes that are scripts. */
  js_share: number;
  /** The share of resources that the document's text does not name. */
  late_share: number;
  page: string;
  /** The number of resources. */
  resources: number;
  /** The site or template that it shares with others: the unit of tests. */
  site: string;
};

/** One page under one scheme in one setting. The speedup is the geometric mean over pairs of loads, as in every other table. The median of every metric stands under `median_` and its name. */
export type StudyPageRow = {
  /** Where the study varies it. */
  cc?: StudyCc;
  /** Where the study varies it. */
  cross?: StudyCross;
  /** Where the study varies it. */
  gate?: StudyGate;
  /** Where the study varies it. */
  hints?: StudyHints;
  /** Where the study varies it. */
  http?: StudyHttp;
  /** The number of loads that completed. */
  loads: StudyCount;
  /** Where the study varies it. */
  loss?: StudyLoss;
  /** If the study says what is pushed. */
  median_pushes?: StudyPushes;
  /** Where the study varies it. */
  migration?: StudyMigration;
  network: string;
  page: string;
  /** Whether the order of oracle (anti-oracle) is proven to be the best (worst). Absent for schemes. */
  proven?: boolean;
  /** Where the study varies it. */
  push?: StudyPush;
  /** Where the study varies it. */
  queue?: StudyQueue;
  /** Where the study varies it. */
  rate?: StudyRate;
  /** Where the study varies it. */
  rtt_ms?: StudyRttMs;
  scheme: string;
  send_buffer_bytes: StudyCount;
  /** Where the study varies it. */
  signals?: StudySignals;
  speedup: StudyIndices;
  /** 95 % interval, by the bootstrap of `comparisons` over loads. Null with fewer than six loads that differ. The ratio itself where nothing is random. */
  speedup_interval: StudyIntervals;
  unfinished: StudyCount;
  /** Further names have the type StudyIndices. */
  [name: string]: unknown;
};

/** For all resources and for those above the fold; null without a test. */
export type StudyProbabilities = {
  all: StudyProbability;
  atf: StudyProbability;
};

export type StudyProbability = number | null;

/** Everything that is needed to repeat the results. `compare` adds what was studied. */
export type StudyProvenance = {
  argv: Array<string>;
  /** The baseline of speedups. Manifests of old mean rr. */
  baseline?: string;
  boring: string;
  client_receive_bytes?: Record<string, unknown> | null;
  /** Empty without a transport. Manifests of old have `congestion_control`: one or null. */
  congestion_controls?: Array<StudyCc>;
  cpu: string;
  /** What others do on the links. Without it nothing. */
  crosses?: Array<StudyCross>;
  date: string;
  delivery_order?: "stream" | "connection";
  engine?: "ideal" | "stack" | "wire" | "browser";
  /** The schemes that failed, each with the first failure: they are compared with nothing. Absent if none did. */
  failed_schemes?: Record<string, string>;
  /** Gates of the policies that push. Without it the server's default. */
  gates?: Array<StudyGate>;
  /** With -dirty if what the program is built from had changes that are not committed. */
  git_commit: string;
  /** What documents' responses name. Without it nothing. */
  hints?: Array<StudyHints>;
  /** Versions of HTTP. Without it HTTP/3. */
  http_versions?: Array<StudyHttp>;
  /** One for each network, in order; empty without a transport. */
  initial_window_packets?: Array<StudyCount>;
  /** Schemes that `all` stands for and that place as another one of the study does, each with that one. Absent without any. */
  left_out?: Record<string, string>;
  /** Shares lost on the way to the client. Without it as the networks lose. */
  losses?: Array<StudyLoss>;
  metadata?: "none" | "browser" | "full";
  /** What speedups compare. */
  metric?: string;
  /** Which responses leave the connection of their request. Without it none. */
  migrations?: Array<StudyMigration>;
  /** The resolved path. */
  networks?: Array<Record<string, unknown>>;
  pages?: Array<{
    name: string;
    sha256: string;
    /** The site or template that it comes from: the unit of intervals and tests. */
    site?: string;
  }>;
  /** Push policies. Without it nothing is pushed. */
  pushes?: Array<StudyPush>;
  /** Depths of the bottleneck's queue. Without it the networks' own. */
  queues?: Array<StudyQueue>;
  quiche: string;
  /** Rates to the client in bits a second. Without it the networks' own. */
  rates?: Array<StudyRate>;
  /** With --width: after each round, the number of seeds, and how far the upper end of the widest interval lies above its lower end; null without an interval. */
  rounds?: Array<{
    seeds: StudyCount;
    widest_percent: number | null;
  }>;
  /** Round trips without queues. Without it the networks' own. */
  rtts_ms?: Array<StudyRttMs>;
  rustc: string;
  schemes?: Array<{
    name: string;
    revision: number;
    /** The hash of its file, which is in `schemes`. Without it the scheme is built in. */
    sha256?: string;
  }>;
  seeds?: Array<StudyCount>;
  send_buffer_model?: "fifo" | "delay";
  send_buffers_bytes?: Array<StudyCount>;
  /** I/N; null for the whole study. */
  shard?: string | null;
  /** Uses of signals. Without it the server's default. */
  signals?: Array<StudySignals>;
  /** With --width: seeds are added until the widest interval is at most this wide, or there are this many. */
  stopping?: {
    seeds_max: StudyCount;
    width_percent: number;
  };
  utmost: string;
  /** Documents loaded before each page on the same connection. Without it none. */
  warm_ups_bytes?: Array<StudyCount>;
};

export type StudyPush = "none" | "push" | "push-in-evaluation-order" | "preload" | "push-and-preload" | "push-static-with-html" | "push-static-with-html-one-bdp";

/** What came of pushes: promises whose responses the page used, promises that the client refused, those of them that came after the client's own request, and bytes that were pushed and not used. */
export type StudyPushes = {
  late: number;
  refused: number;
  taken: number;
  wasted_bytes: number;
};

export type StudyQueue = string;

/** Spearman's rank correlation of the schemes' mean speedups over rr with a published column. */
export type StudyRankCorrelation = {
  /** Where the study varies it. */
  cc?: StudyCc;
  /** Where the study varies it. */
  cross?: StudyCross;
  /** Where the study varies it. */
  gate?: StudyGate;
  /** Where the study varies it. */
  hints?: StudyHints;
  /** Where the study varies it. */
  http?: StudyHttp;
  /** Where the study varies it. */
  loss?: StudyLoss;
  /** Where the study varies it. */
  migration?: StudyMigration;
  network: string;
  published: string;
  /** Where the study varies it. */
  push?: StudyPush;
  /** Where the study varies it. */
  queue?: StudyQueue;
  /** Where the study varies it. */
  rate?: StudyRate;
  /** Where the study varies it. */
  rtt_ms?: StudyRttMs;
  /** The number of schemes in both. */
  schemes: StudyCount;
  send_buffer_bytes: StudyCount;
  /** Where the study varies it. */
  signals?: StudySignals;
  spearman: number;
};

export type StudyRate = number;

export type StudyResource = {
  /** Of the body. */
  bytes: StudyCount;
  /** Null if it never completed. */
  complete_ms: number | null;
  /** Null if no byte arrived. */
  first_byte_ms: number | null;
  /** Index in the page. */
  id: StudyCount;
  pushed: boolean;
  requested_ms: StudyTime;
  url: string;
};

/** One scheme in one setting. A speedup is over all pages that completed under it and under the baseline: of a page, the mean of its loads', each against the load of the baseline with the same seed. The mean of every metric stands under `mean_` and its name: over all pages that completed under the scheme, of each page's mean over its loads. The number of these pages stands under `pages_` and its name. */
export type StudyRow = {
  best_page_speedup: StudyIndices;
  /** Where the study varies it. */
  cc?: StudyCc;
  /** Where the study varies it. */
  cross?: StudyCross;
  /** Where the study varies it. */
  gate?: StudyGate;
  /** Over pages, of their loads' geometric means: the same number as `geometric_mean_ratio` in `comparisons`. */
  geometric_mean_speedup: StudyIndices;
  /** 95 % interval by the same bootstrap. */
  geometric_mean_speedup_interval: StudyIntervals;
  /** Where the study varies it. */
  hints?: StudyHints;
  /** Where the study varies it. */
  http?: StudyHttp;
  /** Where the study varies it. */
  loss?: StudyLoss;
  /** If the study says what is pushed. */
  mean_pushes?: StudyPushes;
  mean_regret: StudyAboveFold;
  /** Arithmetic, over loads and over pages, as in the paper. */
  mean_speedup: StudyIndices;
  /** 95 % interval by a studentised bootstrap of the mean's logarithm: sites, each with all of its pages, are resampled; of a single page, its loads. */
  mean_speedup_interval: StudyIntervals;
  /** Over pages, of their loads' geometric means; the same holds for the best and the worst page. */
  median_speedup: StudyIndices;
  /** Where the study varies it. */
  migration?: StudyMigration;
  network: string;
  /** Pages with a speedup. */
  pages: StudyCount;
  /** Pages on which the order of oracle (anti-oracle) is proven to be the best (worst). Absent for schemes. */
  proven_pages?: StudyCount;
  /** Where the study varies it. */
  push?: StudyPush;
  /** Where the study varies it. */
  queue?: StudyQueue;
  /** Where the study varies it. */
  rate?: StudyRate;
  /** Where the study varies it. */
  rtt_ms?: StudyRttMs;
  scheme: string;
  send_buffer_bytes: StudyCount;
  /** Where the study varies it. */
  signals?: StudySignals;
  /** Sites and templates that the pages come from. */
  sites: StudyCount;
  /** Pages with a speedup of each set. */
  speedup_pages: StudyCounts;
  /** The sites that these come from. */
  speedup_sites: StudyCounts;
  /** Loads that do not count in any mean. */
  unfinished: StudyCount;
  /** Where the study varies it. */
  warm_up_bytes?: StudyCount;
  worst_page_speedup: StudyIndices;
  /** Further names have the type StudyIndices. */
  [name: string]: unknown;
};

export type StudyRttMs = number;

/** One page load. Each metric (docs/metrics.md) has a key of its own. */
export type StudyRun = {
  /** Congestion control; null without a transport. */
  cc: StudyCc | null;
  /** Whether every resource arrived. */
  completed: boolean;
  /** What others do on the links. Without it nothing. */
  cross?: StudyCross;
  duration_ms: StudyTime;
  engine: "ideal" | "stack" | "wire" | "browser";
  /** When pushed bytes may be sent. Without it the server's default, preempt. */
  gate?: StudyGate;
  /** The hints in the document's response. Without it nothing. */
  hints?: StudyHints;
  /** The version of HTTP. Without it HTTP/3. */
  http?: StudyHttp;
  /** The share lost on the way to the client. Without it as the network loses. */
  loss?: StudyLoss;
  /** No order can have a lower ATF ByteIndex, in ms; null where no bound is known, and where others use the link (`cross`). */
  lower_bound: StudyAboveFold;
  /** Which responses leave the connection of their request. Without it none. */
  migration?: StudyMigration;
  network: string;
  page: string;
  /** Whether the order of oracle (anti-oracle) is proven to be the best (worst), or only the best (worst) found. Absent for schemes. */
  proven?: boolean;
  /** What the server pushes. Without it nothing. */
  push?: StudyPush;
  pushes?: StudyPushes;
  /** Depth of the bottleneck's queue, as `64k` or `2bdp`. Without it the network's own. */
  queue?: StudyQueue;
  /** To the client, in bits a second. Without it the network's own. */
  rate?: StudyRate;
  resources: Array<StudyResource>;
  /** Resources that were not requested, because the client had them from an earlier page or visit. */
  reused?: Array<StudyCount>;
  /** The round trip without queues. Without it the network's own. */
  rtt_ms?: StudyRttMs;
  /** Empty if the server's scheme is unknown. */
  scheme: string;
  seed: StudyCount;
  send_buffer_bytes: StudyCount;
  /** How the server uses signals. Without it as it does by default. */
  signals?: StudySignals;
  /** The bytes that arrived of responses after the client cancelled them; absent if it cancelled nothing. */
  tail?: {
    cancelled: StudyCount;
    tail_bytes: StudyCount;
    tail_ms: StudyTime;
  };
  /** For an unfinished load: the first error, and the place of its logs in the study's folder; `of_scheme` where the scheme failed, in this load or in another one of the study. */
  unfinished: {
    of_scheme?: true;
    problem: string;
    qlog: string | null;
  } | null;
  /** Bytes of a document loaded before on the same connection. Without it none. */
  warm_up_bytes?: StudyCount;
  /** Further names have the type StudyIndices. */
  [name: string]: unknown;
};

/** The network, the send buffer, and what else the study varies. */
export type StudySetting = {
  network: string;
  send_buffer_bytes: StudyCount;
};

export type StudySignals = "ignore" | "obey" | "override";

export type StudyTime = number;

/** What `utmost-workshop twin FILE --json` prints */
export type Twin = {
  /** What it costs, after the scheme that it is compared with. */
  costs: Array<{
    /** To pick a stream and charge a packet. */
    decision_ns: number;
    /** To open and close a response. */
    response_ns: number;
    scheme: string;
  }>;
  format: "utmost-twin/1";
  /** Whether its orders are those of the twin; empty without one. */
  orders: Array<{
    /** Where they differ; null where they do not. */
    differs: string | null;
    /** What they were compared on. */
    on: string;
  }>;
  /** The scheme's name. */
  scheme: string;
  /** The built-in scheme that its file names; null if it names none. */
  twin: string | null;
};

/** What `utmost what-if --json` prints */
export type WhatIf = {
  /** What the log does not say, and how the link was chosen. */
  assumptions: Array<string>;
  format: "utmost-what-if/1";
  /** The load of the first log. */
  log: {
    byte_index_all: WhatIfMs;
    /** Null without --page or --set. */
    byte_index_atf: WhatIfMs;
    /** Whole responses. */
    resources: number;
  };
  /** The link over which the derived page is most like the log. */
  network: Record<string, unknown>;
  /** The order that is most like the log first. */
  orders: Array<WhatIfOrder>;
  provenance: Record<string, unknown>;
};

export type WhatIfMs = number | null;

export type WhatIfOrder = {
  /** The median over seeds; null: no load finished. */
  byte_index_all: WhatIfMs;
  byte_index_atf: WhatIfMs;
  /** The most likely link, until another is chosen over resources, then over seeds. */
  completions_differ: number | null;
  /** The scheme, with `, obeys` where the server obeys the priorities of the log. */
  order: string;
};

/** Any of the documents. */
export type UtmostDocument =
  | Access
  | Browser
  | CorpusStats
  | Doctor
  | Explain
  | Exploration
  | Find
  | Graph
  | LinkLog
  | Order
  | Page
  | Probe
  | QlogCheck
  | QlogCompare
  | QlogHol
  | QlogIndex
  | QlogLimits
  | QlogLint
  | QlogRibbon
  | QlogStreams
  | QlogSummary
  | QlogTree
  | Reproduction
  | Scenario
  | SchemeCheck
  | Schemes
  | Session
  | Soak
  | Stress
  | Study
  | Twin
  | WhatIf;
