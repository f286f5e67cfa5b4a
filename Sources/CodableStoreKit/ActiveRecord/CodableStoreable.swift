/// A type whose objects a ``CodableStore`` can keep, and that can save, find and observe them by itself.
///
/// ```swift
/// extension User: CodableStoreable {
///     static var codableStoreIdentifier: KeyPath<User, String> { \.id }
/// }
///
/// try user.save()
/// let users = try User.getCollection()
/// ```
///
/// Each of the conveniences is the operation of that name on a ``CodableStore`` with the container and engine that are
/// passed. A type that should not have them is a ``BaseCodableStoreable``.
public protocol CodableStoreable: BaseCodableStoreable {}
