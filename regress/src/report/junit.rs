//! JUnit XML report for continuous-integration servers.

use std::collections::BTreeMap;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::figures::{count, plain};
use crate::report::summary::Summary;
use crate::run::result::{FailureRecord, Status, TestResult};
use crate::run::timing::Timing;
use crate::run::totals::Totals;

/// Maximum number of tests that each get their own test case.
pub const CASES: u64 = 10_000;
/// Maximum number of failing tests with their own test case in a larger run.
pub const FAILING_CASES: usize = 1_000;

/// Collects results for JUnit XML. Memory use is bounded for any number of results.
#[derive(Debug, Default)]
pub struct Junit {
    tests: u64,
    /// All tests; empty after more than [`CASES`] tests.
    cases: Vec<Case>,
    /// The first [`FAILING_CASES`] tests that did not pass.
    failing: Vec<Case>,
    parts: BTreeMap<(String, String), (Totals, f64)>,
}

#[derive(Clone, Debug)]
struct Case {
    entry: String,
    config: String,
    name: String,
    status: Status,
    failure: Option<FailureRecord>,
    seconds: Option<f64>,
}

impl Junit {
    pub fn add(&mut self, result: &TestResult, seconds: Option<f64>) {
        self.tests += 1;
        let part = self.parts.entry((result.entry.clone(), result.config.clone())).or_default();
        part.0.add(result.status, result.work);
        part.1 += seconds.unwrap_or(0.0);
        let case = || Case {
            entry: result.entry.clone(),
            config: result.config.clone(),
            name: result.name.clone(),
            status: result.status,
            failure: result.failure.clone(),
            seconds,
        };
        if self.tests <= CASES {
            self.cases.push(case());
        } else {
            self.cases = Vec::new();
        }
        if !matches!(result.status, Status::Passed | Status::Skipped) && self.failing.len() < FAILING_CASES {
            self.failing.push(case());
        }
    }

    /// # Errors
    /// Returns an error if the XML cannot be serialized.
    pub fn finish(self, summary: &Summary, timing: &Timing) -> Result<String, quick_junit::SerializeError> {
        let mut report = Report::new(xml(&format!("atoms regress {} {}", summary.plan, summary.profile)));
        report.set_time(duration(timing.wall_s));
        let mut suites: BTreeMap<String, TestSuite> = BTreeMap::new();
        let whole = self.tests <= CASES;
        let cases = if whole { self.cases } else { self.failing };
        let shown =
            cases.iter().filter(|case| !matches!(case.status, Status::Passed | Status::Skipped)).count()
                as u64;
        for case in &cases {
            suite(&mut suites, &case.entry).add_test_case(case.element(summary));
        }
        if !whole {
            for ((entry, config), (totals, seconds)) in &self.parts {
                suite(&mut suites, entry).add_test_case(rest(entry, config, totals, *seconds));
            }
        }
        // Use plan order; suites of unknown entries come last.
        let place =
            |suite: &TestSuite| summary.entries.iter().position(|part| part.name == suite.name.as_str());
        let mut suites: Vec<_> = suites.into_values().collect();
        suites.sort_by_key(|suite| place(suite).unwrap_or(usize::MAX));
        for suite in &mut suites {
            suite.add_property(Property::new("seed", summary.seed.to_string()));
            suite.add_property(Property::new("rtl", xml(&summary.rtl)));
            suite.add_property(Property::new("rtl place", xml(&timing.rtl.origin())));
            suite.add_property(Property::new("tools", xml(&timing.rtl.tools)));
            suite.add_property(Property::new("rtl build seconds", format!("{:.3}", timing.rtl.seconds)));
            suite.add_property(Property::new("test cases", granularity(whole, self.tests, shown)));
        }
        report.add_test_suites(suites);
        // The Jenkins schema does not allow this attribute on the root element. The root comes first, so one
        // replacement suffices.
        let skipped = format!(" skipped=\"{}\"", report.skipped);
        Ok(report.to_string()?.replacen(&skipped, "", 1))
    }
}

fn suite<'a>(suites: &'a mut BTreeMap<String, TestSuite>, entry: &str) -> &'a mut TestSuite {
    suites.entry(entry.into()).or_insert_with(|| TestSuite::new(xml(entry)))
}

fn granularity(whole: bool, tests: u64, shown: u64) -> String {
    if whole {
        return "one test case for each test".into();
    }
    format!(
        "one test case for each configuration, over all its tests, since {} tests are more than {}; and one for \
         each of the first {} tests that did not pass, at most {}",
        count(tests),
        count(CASES),
        count(shown),
        count(FAILING_CASES as u64),
    )
}

/// Makes one test case for all tests of an entry in a configuration. The case fails if any of its tests
/// failed, so that failures beyond [`FAILING_CASES`] also count.
fn rest(entry: &str, config: &str, totals: &Totals, seconds: f64) -> TestCase {
    let (tests, failing) = (count(totals.tests()), count(totals.not_passed()));
    let status = if totals.not_passed() == 0 {
        TestCaseStatus::success()
    } else {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        let ended = Status::ALL.map(|status| format!("{} {}", count(totals.of(status)), status.name()));
        status
            .set_message(format!("{failing} of {tests} tests did not pass"))
            .set_description(ended.join(", "));
        status
    };
    let mut case = TestCase::new(xml(&format!("{entry}/{config}: all {tests} tests")), status);
    case.set_classname(xml(&format!("{entry}.{config}"))).set_time(duration(seconds));
    case
}

impl Case {
    fn element(&self, summary: &Summary) -> TestCase {
        let status = match self.status {
            Status::Passed => TestCaseStatus::success(),
            Status::Skipped => TestCaseStatus::skipped(),
            Status::Failed => self.trouble(NonSuccessKind::Failure, summary),
            Status::TimedOut | Status::Crashed | Status::Error => {
                self.trouble(NonSuccessKind::Error, summary)
            }
        };
        let mut case = TestCase::new(xml(&self.name), status);
        case.set_classname(xml(&format!("{}.{}", self.entry, self.config)));
        if let Some(seconds) = self.seconds {
            case.set_time(duration(seconds));
        }
        case
    }

    fn trouble(&self, kind: NonSuccessKind, summary: &Summary) -> TestCaseStatus {
        let mut status = TestCaseStatus::non_success(kind);
        let Some(failure) = &self.failure else {
            status.set_message(self.status.name()).set_type(self.status.name());
            return status;
        };
        let bucket = summary.bucket(&failure.bucket);
        let key = bucket.map_or(&failure.bucket, |bucket| &bucket.key).to_string();
        let mut text = format!("bucket  {key}\n\n{}\n", failure.text.trim_end());
        if let Some(bucket) = bucket {
            if let Some(suspect) = &bucket.suspect {
                text += &format!("\nsuspect {suspect}");
            }
            if let Some(bundle) = &bucket.bundle {
                text += &format!("\nbundle  {bundle}");
            }
            if !bucket.repeat.is_empty() {
                text += &format!("\nrepeat  {}\n", bucket.repeat);
            }
        }
        status.set_message(xml(&key)).set_type(self.status.name()).set_description(xml(&text));
        status
    }
}

/// Removes characters that XML 1.0 cannot represent, not even escaped.
fn xml(text: &str) -> String {
    plain(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// Converts seconds to a duration; invalid values give 0.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
