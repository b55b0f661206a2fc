use super::*;
use cute_ir::options::{OptionValue, Options};
use cute_target::Requirement;
use melior::{Context, ir::Type};

fn arch(name: &str) -> Arch {
    Arch::find(name).unwrap()
}

fn builder(context: &Context) -> Builder<'_> {
    let half = Type::parse(context, "f16").unwrap();
    Builder::new([half; 3], Type::parse(context, "f32").unwrap()).unwrap()
}

#[test]
fn the_number_of_multiprocessors_decides_where_the_grid_is_small() {
    let context = cute_ir::context();
    let builder = builder(&context);
    let tile = |sms| {
        let request = Request {
            sms,
            ..Request::default()
        };
        let plan = builder.choose([1024, 1024, 1024], &request, arch("sm_90a"));
        plan.unwrap().tile
    };
    assert_eq!(tile(Some(16)), [128, 256, 64]);
    assert_eq!(tile(Some(64)), [128, 128, 64]);
    assert_eq!(tile(Some(127)), [128, 128, 64]);
    assert_eq!(tile(Some(128)), [128, 64, 32]);
    assert_eq!(tile(None), tile(Some(132)));
}

#[test]
fn every_entry_of_the_table_fits_every_architecture_somehow() {
    let context = cute_ir::context();
    let builder = builder(&context);
    for choice in table(RASTER) {
        for arch in Requirement::Since(8, 0).archs() {
            let request = Request {
                tile: Some(choice.tile),
                warps: Some(choice.warps),
                ..Request::default()
            };
            assert!(
                builder.choose(choice.tile, &request, arch).is_ok(),
                "{choice:?} {arch}"
            );
        }
    }
}

#[test]
fn a_plan_says_what_it_was_chosen_by() {
    let context = cute_ir::context();
    let builder = builder(&context);
    for choice in table(3) {
        for swizzle in [
            SwizzleChoice::Auto,
            SwizzleChoice::None,
            SwizzleChoice::read("S<1,4,3>").unwrap(),
        ] {
            let choice = Choice { swizzle, ..choice };
            let plan = builder.plan(choice).unwrap();
            let (_, read) = Builder::of(&plan).unwrap();
            // Another choice may give the same plan, by the same swizzle.
            assert_eq!(builder.plan(read).unwrap(), plan);
            let location = Location::unknown(&context);
            let attribute = plan.attribute(location).unwrap();
            assert_eq!(Plan::of(attribute), Some(plan));
        }
    }
}

#[test]
fn no_builder_answers_for_the_plan_of_another() {
    let context = cute_ir::context();
    let builder = builder(&context);
    let choice = table(RASTER).next().unwrap();
    let mut plan = builder.plan(choice).unwrap();
    plan.paths[0][0].atom = plan.paths[2][1].atom;
    assert!(Builder::of(&plan).is_none());
}

/// The value of an option in the cure that an error names.
fn value(cure: &str, name: &str) -> String {
    let found = cure.trim_end_matches(" fits").split(' ').find_map(|part| {
        let value = part.strip_prefix(name)?.strip_prefix('=')?;
        Some(value.to_owned())
    });
    found.unwrap()
}

#[test]
fn what_does_not_fit_is_answered_with_what_does() {
    let context = cute_ir::context();
    let builder = builder(&context);
    let request = Request {
        tile: Some([256, 256, 64]),
        warps: Some([2, 2]),
        stages: Some(4),
        ..Request::default()
    };
    let problem = [4096, 4096, 4096];
    let error = builder
        .choose(problem, &request, arch("sm_90a"))
        .unwrap_err();
    let (_, cure) = error.rsplit_once("; ").unwrap();
    let [tile, warps, stages] = ["tile", "warps", "stages"].map(|name| value(cure, name));
    let cured = Request::of(&[&tile, &warps, &stages]).unwrap();
    assert!(
        builder.choose(problem, &cured, arch("sm_90a")).is_ok(),
        "{error}"
    );
}

#[test]
fn cures_have_room_for_the_swizzle_that_was_asked_for() {
    let context = cute_ir::context();
    let builder = builder(&context);
    let arch = arch("sm_120");
    for (tile, swizzle) in [
        ([160, 16, 48], "S<3,4,4>"),
        ([96, 64, 96], "S<4,5,-7>"),
        ([64, 64, 32], "S<1,5,-7>"),
        ([16, 16, 48], "S<3,4,-3>"),
    ] {
        let mut asked = Request {
            tile: Some(tile),
            warps: Some([1, 1]),
            stages: Some(64),
            swizzle: Some(SwizzleChoice::read(swizzle).unwrap()),
            ..Request::default()
        };
        let problem = tile.map(|extent| 3 * extent);
        // Each cure is asked for, until there is nothing to cure; the first one is right.
        let Err(error) = builder.choose(problem, &asked, arch) else {
            panic!("64 stages of {tile:?} fit");
        };
        let Some((_, cure)) = error
            .rsplit_once("; ")
            .filter(|(_, it)| it.ends_with("fits"))
        else {
            assert!(error.contains("nothing fits with this swizzle"), "{error}");
            continue;
        };
        asked.tile = Some(OptionValue::read(&value(cure, "tile")).unwrap());
        asked.warps = Some(OptionValue::read(&value(cure, "warps")).unwrap());
        asked.stages = value(cure, "stages").parse().ok();
        assert!(builder.choose(problem, &asked, arch).is_ok(), "{error}");
    }
}

#[test]
fn a_tile_that_does_not_divide_is_an_error() {
    let context = cute_ir::context();
    let builder = builder(&context);
    let request = Request {
        tile: Some([128, 128, 32]),
        ..Request::default()
    };
    let error = builder
        .choose([4096, 4000, 4096], &request, arch("sm_80"))
        .unwrap_err();
    assert!(
        error.contains("does not divide the problem 4096x4000x4096"),
        "{error}"
    );
    let error = builder
        .choose([1000, 1000, 1001], &Request::default(), arch("sm_80"))
        .unwrap_err();
    assert!(error.contains("pad M, N and K"), "{error}");
}
