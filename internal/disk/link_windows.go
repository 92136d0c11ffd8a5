package disk

// NoFollow is no flag: a user without rights can't make symbolic links there.
const NoFollow = 0
