// What the program answers to the scripts of the workbench, in the types of the schemas. The browser tests check the scripts with them.

import type { StudyComparison, StudyIndices, StudyPageRow, StudyRun } from "../../../schemas/utmost";

export type Run = StudyRun & {
  [metric in "first_render" | "hero_render" | "speed_index" | "byte_index" | "load"]: StudyIndices;
};

export type Metric = { name: string; heading: string; unit: string; meaning: string };

/** An order that was loaded. `regions_shown`: when each region above the fold was shown in its final form, and its bytes. */
export type Row = { label: string; run: Run; hero: string | null; regions_shown: [number, number][] };

/** The answer to a question, for one engine. */
export type Answer = {
  rows: Row[];
  sentences: string[];
  best: string | null;
  left_out: string[];
  svg: string;
  /** The time axis of the picture. */
  across: { left: number; right: number; end_ms: number };
  caption: string;
};

export type Answers = { ideal?: Answer | null; stack?: Answer | null };

/** A resource of the page that is open. */
export type Resource = {
  id: number;
  url: string;
  host: string;
  kind: string;
  bytes: number;
  hero: boolean;
  above_fold: boolean;
  preload: boolean;
  urgency: number;
  incremental: boolean;
};

export type Priority = { urgency: number; incremental: boolean };

/** How a resource goes ahead of the moment at which the document names it. */
export type Ahead = "preloads" | "early_hints" | "pushes";

/** What was changed by hand; null: nothing. */
export type ByHand = ({ priorities: Record<number, Priority> } & Partial<Record<Ahead, number[]>>) | null;

/** All that the page shows follows from it. */
export type Now = {
  page: string;
  network: string;
  set: Record<string, string>;
  listed: Record<string, string>;
  seed: number;
  metric: string;
  picture: "ideal" | "stack";
  schemes: string[];
  now: { scheme: string; byHand: ByHand };
  byHand: ByHand;
  heroes: Record<number, boolean>;
  schemeFile: string;
};

/** A study, computed for the two schemes and the metric that were chosen. */
export type Studied = {
  title: string;
  answers: string[];
  conditions: string[];
  metric: string;
  baseline: string;
  scheme: string;
  set: "all" | "atf";
  metrics: Metric[];
  schemes: string[];
  bundled: string[];
  comparisons: { setting: string; verdict: { all: string; atf: string }; row: StudyComparison }[];
  pages: { setting: string; row: StudyPageRow }[];
  figures: { svg: string; caption: string }[];
};

export type Load = { setting: string; run: Run };
