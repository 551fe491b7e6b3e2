use super::*;

#[test]
fn what_is_aimed_at_in_vain_gets_less_attention() {
    let model = Model::standard();
    let mut steering = Steering::new(&model, &Config::default());
    let mut hit = BitVec::repeat(true, model.bins());
    // Each of two groups has one unhit bin. The series already aimed at one of them often.
    let first = |name| model.groups.iter().find(|group| group.name == name).expect("there is one").first;
    let (tired, fresh) = (first("lanes"), first("phase"));
    hit.set(tired, false);
    hit.set(fresh, false);
    steering.aims[tired] = 1000;
    let towards = (0..100).filter_map(|seed| steering.next(&model, &hit, seed).1);
    let (mut to_tired, mut to_fresh) = (0, 0);
    towards.for_each(|group| *(if group == "lanes" { &mut to_tired } else { &mut to_fresh }) += 1);
    assert!(to_fresh > 3 * to_tired && to_fresh > 30, "{to_fresh} and {to_tired}");
}

/// Every group must have a profile for each of its bins, and most bins must change a knob.
#[test]
fn every_bin_has_a_profile() {
    let model = Model::standard();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut aimed = 0;
    assert_eq!(model.groups.len(), focus::STEERED.len());
    for (group, steered) in model.groups.iter().zip(focus::STEERED) {
        let mut of_group = 0;
        for at in 0..group.len() {
            let profile = steered(&[group.values(at)], &mut rng);
            of_group += u32::from(profile != steered(&[], &mut rng));
        }
        assert!(of_group > 0, "{} says nothing to steering", group.name);
        aimed += of_group;
    }
    assert!(aimed as usize * 10 > model.bins() * 9, "{aimed} of {} bins change a knob", model.bins());
}
