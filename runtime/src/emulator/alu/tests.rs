//! Each family against arithmetic written down anew.

mod integers;
