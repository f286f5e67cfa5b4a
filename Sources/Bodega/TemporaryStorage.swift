package import Foundation
import Logging

/// Default storage of its own for a test or a preview: folders, user defaults and secrets that begin empty and are
/// removed afterwards.
///
/// Code that doesn't name its storage needs no change to be tested:
///
/// ```swift
/// let engine = SQLiteStorageEngine.default(appendingPath: "Notes")
/// ```
///
/// A test with Swift Testing has the trait `.temporaryStorage` of the product `BodegaTestSupport`. Others call
/// ``use(isolation:_:)``.
///
/// ## What is replaced
/// While temporary storage is in use, the following are in it:
///
/// - the folders of `FileManager.Directory` that depend on the user, such as
///   `FileManager.Directory.applicationSupport(appendingPath:)`, and all engines that are in them by default
/// - `@StoredValue` without other user defaults than the standard ones
/// - `@SecurelyStoredValue` without a storage of secrets
/// - stores of `CodableStoreKit` without a location, and `CodableStore.Engine.inMemory`
///
/// ## What is not
/// A program that names a URL, other user defaults or a storage of secrets gets it.
///
/// The storage is determined when an engine, a value or a store is *created*, by its task: that of
/// ``use(isolation:_:)`` and the tasks that it creates with `Task` and in task groups, but not `Task.detached`, other
/// threads and dispatch queues. A global or static engine or store belongs to the first test that uses it: create it in
/// the code that owns it, such as an app's model.
public final class TemporaryStorage: Sendable {

    private let folder: URL
    /// The storage that is used again when this one has ended.
    private let outer: TemporaryStorage?
    private let parts = Locked(Parts())

    private struct Parts: Sendable {
        var objects: [ObjectIdentifier: any AnyObject & Sendable] = [:]
        var atEnd: [@Sendable () -> Void] = []
        var hasEnded = false
    }

    @TaskLocal private static var ofTask: TemporaryStorage?
    private static let ofProcess = Locked<TemporaryStorage?>(nil)

    /// The folder of all temporary storage of the process.
    private static let root: URL = {
        atexit { TemporaryStorage.remove(TemporaryStorage.root) }
        let name = "emporium-temporary-\(UUID().uuidString)"
        return FileManager.default.temporaryDirectory.appendingPathComponent(name, isDirectory: true)
    }()

    /// The numbers of the folders in ``root`` that are in use, and the last number.
    private static let numbers = Locked((inUse: Set<Int>(), last: 0))

    private init() {
        let number = Self.numbers.withLock { numbers in
            numbers.last += 1
            numbers.inUse.insert(numbers.last)
            return numbers.last
        }
        folder = Self.root.appendingPathComponent("\(number)", isDirectory: true)
        outer = Self.ofTask
    }

    /// Runs a closure with temporary storage of its own, and removes it afterwards.
    ///
    /// A use within another one has storage of its own.
    ///
    /// ```swift
    /// try await TemporaryStorage.use {
    ///     let model = try await NotesModel()
    ///     try await model.add("milk")
    /// }
    /// ```
    ///
    /// What was created in it can't be used afterwards: engines and stores throw ``StorageError/Code/placeRemoved``.
    ///
    /// - Parameters:
    ///   - isolation: The actor on which the closure runs, the caller's by default.
    ///   - body: The closure.
    /// - Returns: The closure's result.
    /// - Throws: The closure's error.
    public static func use<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        let storage = TemporaryStorage()
        defer { storage.end() }
        return try await $ofTask.withValue(storage, operation: body, isolation: isolation)
    }

    /// Runs a synchronous closure with temporary storage of its own, and removes it afterwards.
    ///
    /// For example, a class of tests overrides `invokeTest()`. In a target whose default isolation is the main actor,
    /// the class is `nonisolated`, and its tests are declared `@MainActor`:
    ///
    /// ```swift
    /// nonisolated final class NotesTests: XCTestCase {
    ///     override func invokeTest() {
    ///         TemporaryStorage.use { super.invokeTest() }
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter body: The closure.
    /// - Returns: The closure's result.
    /// - Throws: The closure's error.
    public static func use<Result>(_ body: () throws -> Result) rethrows -> Result {
        let storage = TemporaryStorage()
        defer { storage.end() }
        return try $ofTask.withValue(storage, operation: body)
    }

    /// Uses temporary storage in all of the process from now on, also in global and static stores. It is removed when
    /// the process exits.
    ///
    /// Call it before the first use of a store. Later calls do nothing.
    public static func useInProcess() {
        ofProcess.withLock { $0 = $0 ?? TemporaryStorage() }
    }

    /// Uses temporary storage in all of the process if it shows previews of Xcode, see ``useInProcess()``. Otherwise,
    /// this does nothing.
    ///
    /// Call it first in the initializer of an app, or in a preview:
    ///
    /// ```swift
    /// #Preview {
    ///     let _ = TemporaryStorage.useInPreviews()
    ///     NotesView()
    /// }
    /// ```
    ///
    /// The environment variable `XCODE_RUNNING_FOR_PREVIEWS` is `1` in such a process.
    public static func useInPreviews() {
        if ProcessInfo.processInfo.environment["XCODE_RUNNING_FOR_PREVIEWS"] == "1" { useInProcess() }
    }

    /// The storage in use, `nil` outside of tests and previews.
    package static var current: TemporaryStorage? { ofTask ?? ofProcess.withLock { $0 } }

    /// Runs a closure with this storage.
    package func use<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Self.$ofTask.withValue(self, operation: body)
    }

    /// A folder in this storage. It need not exist.
    package func folder(_ path: String) -> URL {
        folder.appendingPathComponent(path, isDirectory: true)
    }

    /// The only object of its type in this storage.
    package func object<Object: AnyObject & Sendable>(_ create: () -> Object) -> Object {
        parts.withLock { parts in
            if let object = parts.objects[ObjectIdentifier(Object.self)] as? Object { return object }
            let object = create()
            parts.objects[ObjectIdentifier(Object.self)] = object
            return object
        }
    }

    /// Calls a closure before the folder is removed.
    package func atEnd(_ call: @escaping @Sendable () -> Void) {
        parts.withLock { $0.atEnd.append(call) }
    }

    /// Whether the folder is removed, or about to be.
    package var hasEnded: Bool { parts.withLock { $0.hasEnded } }

    /// Checks that what was created with this storage is not used by another test.
    ///
    /// - Throws: ``StorageError/Code/placeRemoved`` if the storage has ended, or if the task uses other storage, in
    ///   which this one is not nested.
    package func checkUse() throws {
        let isOfProcess = Self.ofProcess.withLock { $0 === self }
        var storage = isOfProcess ? self : Self.ofTask
        while let outer = storage?.outer, storage !== self { storage = outer }
        if hasEnded || storage != nil && storage !== self {
            throw StorageError(.placeRemoved, Self.advice, file: folder)
        }
    }

    private static let advice = """
        It is in the temporary storage of another test, or of one that has ended. Create stores, engines and values in \
        each test, not in a global or static property.
        """

    /// What to do about an error with a file, `nil` unless the file was in temporary storage that has ended.
    static func advice(for path: String) -> String? {
        guard let place = path.range(of: "/emporium-temporary-"), path.contains(root.lastPathComponent + "/"),
            let number = path[place.upperBound...].split(separator: "/").dropFirst().first.flatMap({ Int($0) }),
            !numbers.withLock({ $0.inUse.contains(number) })
        else { return nil }
        return advice
    }

    private func end() {
        let ended = parts.withLock { parts in
            defer {
                parts = Parts()
                parts.hasEnded = true
            }
            return parts
        }
        for call in ended.atEnd { call() }
        Self.remove(folder)
        // A file in place of the folder: what is used too late can't create the folder again.
        do {
            try FileManager.default.createDirectory(at: Self.root, withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: folder.path, isDirectory: false))
        } catch {
            bodegaLogger.warning("Temporary storage could not be ended.", metadata: ["error": "\(error)"])
        }
        if let number = Int(folder.lastPathComponent) { Self.numbers.withLock { _ = $0.inUse.remove(number) } }
    }

    private static func remove(_ folder: URL) {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch CocoaError.fileNoSuchFile {
            // Nothing was stored.
        } catch {
            bodegaLogger.warning(
                "Temporary storage could not be removed.",
                metadata: ["folder": "\(folder.path)", "error": "\(error)"])
        }
    }
}

extension Error {
    /// Whether the error is to be expected, because a test has ended and its storage was removed.
    package var isOfEndedTest: Bool {
        ((self as? StorageError)?.file).map { TemporaryStorage.advice(for: $0.path) != nil } ?? false
    }
}
