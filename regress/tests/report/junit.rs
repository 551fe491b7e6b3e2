//! Tests of JUnit XML, read back with an independent XML parser.

use atoms_regress::report::junit::{CASES, FAILING_CASES, Junit};
use atoms_regress::report::summary::Summary;
use atoms_regress::run::result::{FailureRecord, Status, TestResult, Work};
use atoms_regress::run::totals::PartTotals;
use atoms_regress::triage::signature::{FailureKind, Signature};
use roxmltree::{Document, Node};

use super::fixture;

fn cases<'a>(document: &'a Document<'a>) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|node| node.has_tag_name("testcase")).collect()
}

fn number(node: Node<'_, '_>, attribute: &str) -> usize {
    node.attribute(attribute)
        .and_then(|value| value.parse().ok())
        .unwrap_or_else(|| panic!("no {attribute}: {node:?}"))
}

#[test]
fn every_test_is_a_case_with_what_failed_in_it() {
    let regression = fixture::failing();
    let xml = regression.junit();
    let document = Document::parse(&xml).expect("it is XML");
    let totals = regression.summary.totals;
    let root = document.root_element();
    assert_eq!(number(root, "tests") as u64, totals.tests());
    assert_eq!(number(root, "failures") as u64, totals.failed);
    assert_eq!(number(root, "errors") as u64, totals.crashed);
    assert_eq!(cases(&document).len() as u64, totals.tests());
    let suites: Vec<_> = root.children().filter_map(|node| node.attribute("name")).collect();
    assert_eq!(suites, ["random", "mbarrier", "kernels"], "in the order of the plan");
    for bucket in &regression.summary.buckets {
        let case =
            cases(&document).into_iter().find(|case| case.attribute("name") == Some(&bucket.first_name));
        let case = case.unwrap_or_else(|| panic!("{} is missing", bucket.first_name));
        let trouble = case.first_element_child().expect("it did not pass");
        // The message has the final signature, even if the result has the raw one.
        assert_eq!(trouble.attribute("message"), Some(bucket.key.to_string().as_str()));
        let text = trouble.text().unwrap_or_default();
        assert!(text.contains(&bucket.text), "{text}");
        assert!(text.contains(&format!("repeat  {}", bucket.repeat)), "{text}");
    }
}

/// Attributes by element that the schema `junit-10.xsd` of the Jenkins xUnit plugin allows.
const ALLOWED: [(&str, &[&str]); 5] = [
    ("testsuites", &["name", "time", "tests", "failures", "errors", "disabled"]),
    (
        "testsuite",
        &[
            "name",
            "tests",
            "failures",
            "errors",
            "skipped",
            "disabled",
            "time",
            "timestamp",
            "hostname",
            "id",
        ],
    ),
    ("testcase", &["name", "classname", "time", "status", "assertions"]),
    ("failure", &["message", "type"]),
    ("error", &["message", "type"]),
];

#[test]
fn attributes_are_those_of_the_schema() {
    let mut junit = Junit::default();
    for (index, status) in Status::ALL.into_iter().enumerate() {
        junit.add(&result(index as u64, status, "text"), None);
    }
    let mut all = vec![junit.finish(&Summary::default(), &Default::default()).expect("it serializes")];
    all.push(fixture::failing().junit());
    for xml in &all {
        let document = Document::parse(xml).expect("it is XML");
        for node in document.descendants().filter(Node::is_element) {
            let allowed = ALLOWED.iter().find(|(name, _)| node.has_tag_name(*name));
            let Some((_, allowed)) = allowed else { continue };
            for attribute in node.attributes() {
                assert!(allowed.contains(&attribute.name()), "{attribute:?} of {node:?}");
            }
        }
    }
    let document = Document::parse(&all[0]).expect("it is XML");
    let skipped = document.descendants().filter(|node| node.has_tag_name("skipped")).count();
    assert_eq!(skipped, 1);
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).expect("there is a suite");
    assert_eq!(number(suite, "skipped"), 1);
}

fn result(index: u64, status: Status, text: &str) -> TestResult {
    let failure = (status != Status::Passed).then(|| FailureRecord {
        bucket: Signature::new(FailureKind::Kernel, text),
        cycle: 1,
        text: text.into(),
        episode: None,
    });
    let config = if index.is_multiple_of(2) { "small" } else { "tiny" };
    TestResult {
        index,
        name: format!("random/{config}/{index} {}", if status == Status::Passed { "" } else { text }),
        entry: "random".into(),
        config: config.into(),
        status,
        work: Work::default(),
        new_bins: 0,
        failure,
    }
}

#[test]
fn any_text_becomes_valid_xml() {
    let mut junit = Junit::default();
    let hostile = "\0\u{1}\u{8}\u{b}\u{1b}[31m ]]> <a> & \" ' \u{fffe}\u{ffff}\u{85} \u{1f600} \r\n end";
    for (index, status) in Status::ALL.into_iter().enumerate() {
        junit.add(&result(index as u64, status, hostile), Some(f64::NAN));
    }
    let xml = junit.finish(&Summary::default(), &Default::default()).expect("it serializes");
    let document = Document::parse(&xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
    let troubled = cases(&document).into_iter().filter_map(|case| case.first_element_child());
    let texts: Vec<_> = troubled.filter_map(|trouble| trouble.text()).collect();
    assert_eq!(texts.len(), 4);
    for text in texts {
        assert!(
            text.contains("]]> <a> & \" '") && text.contains("\u{1f600}") && text.contains("end"),
            "{text}"
        );
    }
}

#[test]
fn many_tests_become_one_case_for_each_configuration() {
    let tests = CASES + 2 * FAILING_CASES as u64 + 100;
    let mut junit = Junit::default();
    for index in 0..tests {
        let status = if index % 4 == 1 { Status::Failed } else { Status::Passed };
        junit.add(&result(index, status, "mismatch"), Some(0.25));
    }
    let summary = Summary {
        entries: vec![PartTotals { name: "random".into(), ..PartTotals::default() }],
        ..Summary::default()
    };
    let xml = junit.finish(&summary, &Default::default()).expect("it serializes");
    let document = Document::parse(&xml).expect("it is XML");
    let cases = cases(&document);
    assert_eq!(cases.len(), FAILING_CASES + 2);
    let whole: Vec<_> =
        cases.iter().filter(|case| case.attribute("name").unwrap_or_default().contains(": all ")).collect();
    let passed = whole.iter().filter(|case| case.first_element_child().is_none()).count();
    assert_eq!((whole.len(), passed), (2, 1), "all that failed was in one configuration");
    let said = document.descendants().filter(|node| node.has_tag_name("property"));
    let said: Vec<_> = said.filter(|node| node.attribute("name") == Some("test cases")).collect();
    let value = said[0].attribute("value").unwrap_or_default();
    assert!(
        value.contains("12,100 tests are more than 10,000") && value.contains("at most 1,000"),
        "{value}"
    );
}

#[test]
fn at_the_limit_every_test_is_a_case() {
    let mut junit = Junit::default();
    for index in 0..CASES {
        junit.add(&result(index, Status::Passed, ""), None);
    }
    let xml = junit.finish(&Summary::default(), &Default::default()).expect("it serializes");
    assert_eq!(cases(&Document::parse(&xml).expect("it is XML")).len() as u64, CASES);
}
