/// What a finished write has survived.
public enum StorageDurability: Sendable, Hashable {
    /// When a write returns, the item is on the medium and survives a power failure.
    case full

    /// When a write returns, the item survives the end of the program, also a sudden one; a power failure can cost the
    /// last writes, but never leaves half of one. For caches and other data that can be made again.
    case relaxed
}
