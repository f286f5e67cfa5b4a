/// The failures that a finished write survives.
public enum StorageDurability: Sendable, Hashable {
    /// When a write returns, the item is on disk and survives a power failure.
    case full

    /// When a write returns, the item survives the end of the program, even a crash. A power failure can lose the last
    /// writes but never leaves half of one. For caches and other data that can be recreated.
    case relaxed
}
