/// What a ``Store`` and the value wrappers can keep: `Codable` values that may cross from one task to another.
public typealias StorableItem = Codable & Sendable
