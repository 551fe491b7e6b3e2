//! Random parameter points outside the named configurations. Every point that `Config::check` accepts runs on
//! the model. RTL only runs in the configurations of `rtl/configs.toml`.

use atoms_cosim::machine::ModelMachine;
use atoms_cosim::scoreboard::Scoreboard;
use atoms_cosim::session::Session;
use atoms_coverage::{Model, Sampler};
use atoms_model::Config;
use atoms_model::config::{PARAMETERS, Parameter, ParameterKind};
use atoms_stimulus::{Profile, RandomStimulus};
use atoms_tests::hunt::{cases_or, seed, settings};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

/// Draws an end of the parameter's range, or a small value, which causes more events per request.
fn value(parameter: &'static Parameter) -> BoxedStrategy<u32> {
    match parameter.kind {
        ParameterKind::Number(low, high, _) => {
            let small: Vec<_> =
                (low..=high.min(64)).filter(|v| parameter.parse(&v.to_string()).is_ok()).collect();
            prop_oneof![2 => Just(low), 1 => Just(high), 5 => select(small)].boxed()
        }
        ParameterKind::Flag => (0..=1_u32).boxed(),
        ParameterKind::Choice(names) => (0..names.len() as u32).boxed(),
    }
}

fn any_config() -> impl Strategy<Value = Config> {
    let values: Vec<_> = PARAMETERS.iter().map(value).collect();
    let config = values.prop_map(|values| {
        let mut config = Config::default();
        PARAMETERS.iter().zip(values).for_each(|(parameter, value)| (parameter.set)(&mut config, value));
        config
    });
    config.prop_filter("the parameters go together", |config| config.check().is_ok())
}

/// The stimulus ends, the oracle accepts all answers, and the run hits no unreachable bin.
fn runs(model: &Model, config: Config, profile: &str, seed: u64) -> Result<(), TestCaseError> {
    let profile = Profile::named(profile).expect("it is one of them");
    let scoreboard = Scoreboard::new(&config, &[]);
    let session = Session::new(ModelMachine::new(config), Some(scoreboard));
    let (mut session, ()) = session.listened_by(Sampler::new(&config));
    let run = session.run(&mut RandomStimulus::new(config, &profile, seed, 200), 400_000, |_| {});
    prop_assert!(run.is_ok(), "{run:?}");
    prop_assert!(session.is_idle(), "after {:?}", session.tally());
    let mut sampler = session.listened_by(()).1;
    for (bin, _) in sampler.take().iter() {
        let (group, at) = model.locate(bin).expect("every bin is a group's");
        prop_assert!((group.reachable)(&config, &group.values(at)), "{} was hit", group.bin_name(at));
    }
    Ok(())
}

#[test]
fn every_point_runs() {
    let any = (any_config(), select(&Profile::NAMES[..]), any::<u64>());
    let model = Model::standard();
    let mut runner = TestRunner::new(settings(cases_or(1000), seed(), 400));
    let outcome = runner.run(&any, |(config, profile, seed)| runs(&model, config, profile, seed));
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}
