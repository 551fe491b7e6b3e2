mod border;
mod header;
mod pins;
