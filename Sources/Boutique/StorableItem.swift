/// The requirements for items of a ``Store`` and for values of the wrappers: `Codable` and `Sendable`.
public typealias StorableItem = Codable & Sendable
