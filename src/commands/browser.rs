//! `utmost browser`: the schemes in a real browser, beside the playback's predictions.

use super::compare;
use crate::{figure_files, output, values};
use ::client::profile::Profile;
use ::serve::Failure;
use figures::FigureStyle;
use lab::Contender;
use lab::browsing::Browser;
use lab::study::agreement::{Agreement, agreements};
use lab::study::statistics::median;
use lab::study::{Plan, Settings, Study, engines, folder};
use serde::Serialize;
use server::SignalUse;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FORMAT: &str = "utmost-browser/1";
/// The folder of the predictions, in the folder of the study.
const PREDICTION: &str = "prediction";
/// The folder of the film strips, in the folder of the study.
const FILM: &str = "film";
/// Loads of each prediction; loads on engine stack are cheap.
const PREDICTED_SEEDS: u64 = 3;

/// Load pages in a browser under several schemes, and compare with the playback's predictions
///
/// Chromium or Firefox loads each page from `utmost serve`'s own server, in real time, over UDP and through the lab's links, under every
/// scheme in three ways: the server orders responses by its knowledge of the page (ignore), by the priorities that the browser signals
/// (obey), or by both (override). All loads of a page with the same seed run one after another, in random order, over the same link, so
/// they are compared in pairs. The same loads on engine stack are the prediction. For pages recorded from a package, utmost fetches the
/// real files; it imitates other pages.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  utmost browser agency-home --networks 3g\n  \
utmost browser agency-home clean-blog-home --schemes rr,fifo,rfc9218 --signals ignore --seeds 7 --out study\n  \
utmost browser agency-home --networks 3g --browser firefox\n  \
utmost browser agency-home --networks 3g --signals ignore --seeds 1 --film --out study\n  \
utmost browser @first-60 --networks cable,3g --imitate --json")]
pub(crate) struct Arguments {
    /// Pages: bundled names, sets of them such as @first-60, or files
    #[arg(id = "PAGE", required = true, value_name = "PAGE")]
    page_names: Vec<String>,
    /// Networks, separated by commas: names, or TOML files
    #[arg(
        long = "network",
        visible_alias = "networks",
        value_name = "LIST",
        default_value = "cable,3g",
        value_delimiter = ','
    )]
    networks: Vec<String>,
    /// Schemes, separated by commas; `paper` and `all` are groups. The first is the baseline
    #[arg(long, value_name = "LIST", default_value = "rr,wrr,fifo,dfifo,bucket-html,rfc9218")]
    schemes: String,
    #[command(flatten)]
    own: values::OwnSchemes,
    /// How the server uses the browser's signals, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "ignore,obey,override",
        value_parser = values::choice(values::SIGNALS))]
    signals: Vec<SignalUse>,
    /// Load each page N times under each scheme. Confidence intervals need at least six
    #[arg(long, visible_alias = "loads", value_name = "N", default_value = "6", value_parser = ::serve::whole_number(1..=1000))]
    seeds: u64,
    #[command(flatten)]
    which: Which,
    /// Take pictures of Chromium's window, for the `SpeedIndex` of each load and for OUT/film.html: film strips of the first load under
    /// each scheme. Taking pictures slows the browser down
    #[arg(long, requires = "out")]
    film: bool,
    /// Write tables, figures and the report into this directory, each load as soon as it is done. The same command continues an interrupted
    /// study
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The browser of engine browser, and the bodies it gets.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Which {
    /// The browser of engine browser
    #[arg(long, value_parser = values::choice(BROWSERS), default_value = "chromium")]
    browser: Name,
    /// On engine browser, imitate all pages. Otherwise utmost fetches the real files of pages recorded from a package
    #[arg(long)]
    pub(crate) imitate: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Name {
    #[default]
    Chromium,
    Firefox,
}

const BROWSERS: values::Choices<Name> =
    &[("chromium", "Chromium or Chrome", Name::Chromium), ("firefox", "Firefox", Name::Firefox)];

impl Which {
    /// The browser. Fails at once if it is not installed, before any predictions are computed.
    pub(crate) fn installed(self) -> Result<Arc<dyn Browser>, Failure> {
        let browser = browser(self)?;
        browser.description().map_err(Failure::elsewhere)?;
        Ok(browser)
    }

    #[cfg(feature = "record")]
    pub(crate) fn described(description: &str) -> Option<Self> {
        use recorder::installed::Kind;
        use recorder::study_browser::{Bodies, described};
        let (kind, bodies) = described(description)?;
        let browser = match kind {
            Kind::Chromium => Name::Chromium,
            Kind::Firefox => Name::Firefox,
        };
        Some(Self { browser, imitate: bodies == Bodies::Imitated })
    }

    /// Without browser support there is none; [`Self::installed`] reports why.
    #[cfg(not(feature = "record"))]
    pub(crate) fn described(_: &str) -> Option<Self> {
        Some(Self::default())
    }

    /// The profile with which the playback imitates the browser.
    fn profile(self) -> &'static str {
        match self.browser {
            Name::Chromium => "chromium-156",
            Name::Firefox => "firefox-153",
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    /// The browser with its version, and the bodies of the pages.
    browser: String,
    /// For each page and setting, the browser's loads beside the predictions.
    agreements: &'a [Agreement],
    study: &'a Study,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let plan = plan(arguments)?;
    if let Some(folder) = &arguments.out {
        values::directory(folder, "--out")?;
    }
    let predicted = prediction(&plan, arguments.which)?;
    let predicted_in = arguments.out.as_ref().map(|it| it.join(PREDICTION));
    let predicted =
        compare::carry_out(&predicted, Study::default(), predicted_in.as_deref(), "predictions")?;
    let mut study = compare::carry_out(
        &plan,
        Study::default(),
        arguments.out.as_deref(),
        "loads in the browser",
    )?;
    study.compare_pairs(&plan);
    if let Some(folder) = &arguments.out {
        let style = FigureStyle::default();
        let missing = folder::write(&plan, &study, folder, style, arguments.json);
        let missing = missing.map_err(Failure::elsewhere)?;
        figure_files::without_png(missing.as_ref());
        write_film(&plan, &study, folder)?;
    }
    let agreements = agreements(&study.runs, &predicted.runs, plan.metric);
    if arguments.json {
        let browser = plan.browser.as_ref().map(|it| it.description());
        let browser = browser.transpose().map_err(Failure::elsewhere)?.unwrap_or_default();
        let document = Document { format: FORMAT, browser, agreements: &agreements, study: &study };
        return output::json(&document);
    }
    show(&agreements)?;
    compare::present(&plan, &mut study, None, FigureStyle::default(), false, false)?;
    if let Some(folder) = &arguments.out {
        output::line(&format!("report: {}", folder.join(folder::REPORT).display()))?;
    }
    compare::finished(&plan, &study)
}

fn plan(arguments: &Arguments) -> Result<Plan, Failure> {
    if arguments.film && arguments.which.browser != Name::Chromium {
        let why = "--film: only Chromium records when a picture was taken; leave it out, or use --browser chromium";
        return Err(Failure::BadInput(why.into()));
    }
    let networks = values::networks(&arguments.networks)?;
    let first = networks.first().cloned();
    let first = first.ok_or_else(|| Failure::BadInput("--network: name at least one".into()))?;
    let catalogue = arguments.own.catalogue(&[])?;
    let schemes = values::contenders("--schemes", &arguments.schemes, &catalogue)?;
    values::note_unused(&catalogue, "--schemes", schemes.iter().map(Contender::name));
    let pages = values::each_page(&arguments.page_names, values::pages)?;
    let baseline = schemes.first().map(|it| it.name().to_owned());
    let plan = Plan::new(pages, schemes, engines::BROWSER, first.clone());
    let settings = Settings {
        networks,
        signals: arguments.signals.clone(),
        ..Settings::on(first, engines::BROWSER)
    };
    let plan = Plan {
        settings,
        seeds: (0..arguments.seeds).collect(),
        browser: Some(arguments.which.installed()?),
        film_dir: arguments.out.as_ref().filter(|_| arguments.film).map(|it| it.join(FILM)),
        baseline: baseline.unwrap_or(plan.baseline),
        ..plan
    };
    plan.check().map_err(Failure::bad_input)?;
    Ok(plan)
}

#[cfg(feature = "record")]
fn write_film(plan: &Plan, study: &Study, folder: &Path) -> Result<(), Failure> {
    let film = lab::study::film(plan, study, recorder::study_browser::base64);
    let Some(film) = film.map_err(Failure::elsewhere)? else { return Ok(()) };
    let file = folder.join("film.html");
    lab::write_file(&file, report::comparison::film_page(&film)).map_err(Failure::elsewhere)?;
    output::line(&format!("film: {}", file.display()))
}

#[cfg(not(feature = "record"))]
fn write_film(_: &Plan, _: &Study, _: &Path) -> Result<(), Failure> {
    Ok(())
}

/// The same loads by the playback, which imitates the browser's signals and delays.
fn prediction(plan: &Plan, which: Which) -> Result<Plan, Failure> {
    let profile = Profile::find(which.profile()).map_err(Failure::bad_input)?;
    Ok(Plan {
        engine: engines::STACK,
        browser: None,
        profile: Some(profile),
        film_dir: None,
        seeds: (0..PREDICTED_SEEDS).collect(),
        jobs: values::cores(),
        ..plan.clone()
    })
}

#[cfg(feature = "record")]
#[expect(clippy::unnecessary_wraps, reason = "a program without the feature has none")]
fn browser(which: Which) -> Result<Arc<dyn Browser>, Failure> {
    use recorder::installed::Kind;
    use recorder::study_browser::{Bodies, StudyBrowser};
    let kind = match which.browser {
        Name::Chromium => Kind::Chromium,
        Name::Firefox => Kind::Firefox,
    };
    let bodies = if which.imitate { Bodies::Imitated } else { Bodies::Real };
    Ok(Arc::new(StudyBrowser::new(kind, bodies)))
}

#[cfg(not(feature = "record"))]
fn browser(_: Which) -> Result<Arc<dyn Browser>, Failure> {
    let why = "this program was built without browsers; build it with the feature `record`";
    Err(Failure::BadInput(why.to_owned()))
}

fn show(agreements: &[Agreement]) -> Result<(), Failure> {
    let header = "page|network|signals|schemes|rank correlation|of the browser with itself|pairs told apart|\
        in the same order|best in the browser|ms|best in the playback|ms in the browser|ratio|95 % interval|\
        load ms|predicted";
    let header: Vec<&str> = header.split('|').collect();
    let rows = agreements.iter().map(cells);
    output::line(&output::table(&header, &[], rows).to_string())?;
    let correlations: Vec<f64> = agreements.iter().filter_map(|it| it.spearman).collect();
    let with_itself: Vec<f64> = agreements.iter().filter_map(|it| it.repeatability).collect();
    let commits_ms: Vec<f64> = agreements.iter().filter_map(|it| it.commit_ms).collect();
    let predicted_ms: Vec<f64> =
        agreements.iter().filter_map(|it| it.predicted_commit_ms).collect();
    output::line(&format!(
        "the first request follows {} ms after the document's first byte in the browser, {} ms in the playback (medians)",
        output::number(median(&commits_ms), 0),
        output::number(median(&predicted_ms), 0)
    ))?;
    let errors: Vec<f64> =
        agreements.iter().flat_map(Agreement::load_errors).map(f64::abs).collect();
    output::line(&format!(
        "the playback beside the browser: rank correlation {} (median), at least 0.9 for {} of {} (the browser with itself: {}, for {} of {}); \
         the same order for {} of {} pairs of schemes that the browser's loads tell apart; the best scheme predicted, or within its interval, for {} of {}; load times off by {} % (median)",
        output::number(median(&correlations), 2),
        correlations.iter().filter(|it| **it >= 0.9).count(),
        correlations.len(),
        output::number(median(&with_itself), 2),
        with_itself.iter().filter(|it| **it >= 0.9).count(),
        with_itself.len(),
        agreements.iter().map(|it| it.told_alike).sum::<usize>(),
        agreements.iter().map(|it| it.told_apart).sum::<usize>(),
        agreements.iter().filter(|it| it.is_winner_predicted).count(),
        agreements.len(),
        output::number(median(&errors).map(|it| it * 100.0), 1)
    ))
}

fn cells(found: &Agreement) -> Vec<String> {
    let [winner, predicted] = [&found.winner, &found.predicted_winner]
        .map(|name| found.schemes.iter().find(|it| it.scheme == *name));
    let interval = found.winner_ratio_interval;
    vec![
        found.page.clone(),
        found.setting.network.clone(),
        found.setting.signals.map_or("-", SignalUse::name).to_owned(),
        found.schemes.len().to_string(),
        output::number(found.spearman, 2),
        output::number(found.repeatability, 2),
        found.told_apart.to_string(),
        found.told_alike.to_string(),
        found.winner.clone(),
        output::number(winner.map(|it| it.measured), 0),
        found.predicted_winner.clone(),
        output::number(predicted.map(|it| it.measured), 0),
        output::number(found.winner_ratio, 3),
        interval.map_or("-".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}")),
        output::number(winner.and_then(|it| it.load_ms), 0),
        output::number(winner.and_then(|it| it.predicted_load_ms), 0),
    ]
}
