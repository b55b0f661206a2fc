//! Columns of pixels: which column a tile is, and where the coordinates of a convolution start and step.

use cute_layout::{
    Layout, Swizzle,
    tma::{Filter, PixelBox, TmaBox},
};

fn layout(text: &str) -> Layout {
    Layout::parse(text).unwrap()
}

fn pixels(lower: &[i64], upper: &[i64], strides: &[i64]) -> PixelBox {
    PixelBox {
        lower: lower.to_vec(),
        upper: upper.to_vec(),
        strides: strides.to_vec(),
    }
}

fn coordinates(images: &str, pixels: &PixelBox, filter: (&[i64], &[i64])) -> (String, String) {
    let filter = Filter {
        extents: filter.0.to_vec(),
        dilation: filter.1.to_vec(),
    };
    let (start, steps) = pixels.coordinates(&layout(images), &filter).unwrap();
    (start.to_string(), steps.to_string())
}

fn refused(images: &str, pixels: &PixelBox, filter: (&[i64], &[i64])) -> String {
    let filter = Filter {
        extents: filter.0.to_vec(),
        dilation: filter.1.to_vec(),
    };
    let column = TmaBox::of_im2col(
        &layout(images),
        &layout("(128,64):(64,1)"),
        None,
        16,
        pixels,
    );
    let coordinates = column.and_then(|_| pixels.coordinates(&layout(images), &filter));
    coordinates.unwrap_err().to_string()
}

/// Compares the number of places with what a convolution has, by counting.
#[test]
fn places_are_counted() {
    for (width, before, behind, extent, dilation, stride) in [
        (9, 1, 1, 3, 1, 1),
        (9, 1, 1, 3, 1, 2),
        (10, 2, 0, 3, 2, 3),
        (5, 0, 0, 5, 1, 1),
        (1, 1, 1, 3, 1, 2),
        (64, 3, 4, 7, 1, 8),
    ] {
        let reach = (extent - 1) * dilation;
        let places = (-before..=width - 1 + behind - reach).step_by(stride as usize);
        let count = places.count();
        let pixels = pixels(&[-before], &[behind - reach], &[stride]);
        let images = format!("(64,{width},3):(1,64,{})", 64 * width);
        let (start, steps) = coordinates(&images, &pixels, (&[extent], &[dilation]));
        assert_eq!(start, format!("(0,0,0,{count})"));
        assert_eq!(
            steps,
            format!("({},(64,{extent})):(1@1,(1@0,{dilation}@2))", 3 * count)
        );
    }
}

#[test]
fn what_only_a_launch_knows_stays_open() {
    let open = "(?,?,7,?,?):(1,?{div=8},?{div=8},?{div=8},?{div=8})";
    let box_of = pixels(&[0, -1, 0], &[-1, -1, 0], &[1, 1, 2]);
    let (start, steps) = coordinates(open, &box_of, (&[2, 3, 1], &[-1, 2, 1]));
    assert_eq!(start, "(0,0,1,0,0,?,7,?)");
    assert_eq!(steps, "(?,(?,2,3,1)):(1@1,(1@0,-1@2,2@3,1@4))");
}

#[test]
fn columns_are_as_wide_as_the_swizzle_and_at_most_1024_pixels() {
    let images = layout("(?,?,?):(1,?{div=8},?{div=8})");
    let of = |smem: &str, swizzle: Option<Swizzle>| {
        let pixels = pixels(&[0], &[0], &[1]);
        let map = TmaBox::of_im2col(&images, &layout(smem), swizzle, 16, &pixels).unwrap();
        let basis = map.basis().unwrap();
        let again = TmaBox::from_basis(&basis, map.swizzle, map.im2col.clone()).unwrap();
        assert_eq!(again, map);
        basis.to_string()
    };
    let wide = Swizzle::new(3, 4, 3).ok();
    assert_eq!(of("(128,64):(64,1)", wide), "(64,128):(1@1,1@0)");
    assert_eq!(of("(128,(64,2)):(64,(1,8192))", wide), "(64,128):(1@1,1@0)");
    assert_eq!(of("(2048,8):(8,1)", None), "(8,1024):(1@1,1@0)");
    assert_eq!(of("(16,256):(256,1)", None), "(256,16):(1@1,1@0)");
    assert_eq!(of("(16,512):(512,1)", None), "(256,1):(1@1,1@0)");
}

/// A tile over two elements of the filter is a column for each; one that is transposed is the same column.
#[test]
fn tiles_are_columns() {
    let images = layout("(?,?,?,?):(1,?{div=8},?{div=8},?{div=8})");
    let pixels = pixels(&[-1, -1], &[-1, -1], &[1, 1]);
    let smem = layout("(128,(32,2)):(32,(1,4096))");
    let map = TmaBox::of_im2col(&images, &smem, Swizzle::new(2, 4, 3).ok(), 16, &pixels).unwrap();
    assert_eq!(map.coordinates_count(), 4);
    let tile = layout("(128,(32,2,1)):(1@1,(1@0,2@2,1@3))");
    let boxes = map.boxes(&tile, &smem).unwrap();
    assert_eq!(boxes, [[0, 0, 0, 0], [0, 0, 2, 0]]);
    assert_eq!(map.boxes_of(&tile).unwrap(), boxes);
    let turned = layout("(32,128):(1@0,1@1)");
    let boxes = map.boxes(&turned, &layout("(32,128):(1,32)")).unwrap();
    assert_eq!(boxes, [[0, 0, 0, 0]]);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let images = "(?,?,?):(1,?{div=8},?{div=8})";
    let one: (&[i64], &[i64]) = (&[1], &[1]);
    for far in [i64::MIN, i64::MAX] {
        refused(images, &pixels(&[far], &[0], &[1]), one);
        refused(images, &pixels(&[0], &[far], &[1]), one);
        refused(images, &pixels(&[0], &[0], &[far]), one);
        refused(images, &pixels(&[0], &[0], &[1]), (&[far], &[1]));
        refused(images, &pixels(&[0], &[0], &[1]), (&[1], &[far]));
        refused(images, &pixels(&[0], &[0], &[1]), (&[3], &[far]));
    }
    let text = refused("(64,4,2):(1,64,256)", &pixels(&[0], &[-4], &[1]), one);
    assert!(
        text.contains("corners with a pixel between them along W"),
        "{text}"
    );
}
