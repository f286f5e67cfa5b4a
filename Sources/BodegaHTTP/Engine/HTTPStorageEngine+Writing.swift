public import Bodega
import Foundation

extension HTTPStorageEngine {

    /// Applies operations one after another, with a request for each item. It is not atomic.
    ///
    /// With ``HTTPStorageOptions/usesEntityTags``, a batch of one write or removal can have a condition on the same
    /// item.
    ///
    /// - Throws: A `StorageError`. If an item can't be sent, no request was made. Otherwise the message contains the
    ///   number of operations that were applied.
    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        if let conditions = batch.conditions, let condition = conditions.first {
            guard conditions.count == 1 else { throw StorageError.notOneItem }
            return try await apply(batch.operations, if: condition)
        }
        guard batch.conditions == nil || options.usesEntityTags, batch.basis == nil else {
            throw StorageError.missingConditions
        }
        let steps = try batch.operations.map(step)
        for (index, step) in steps.enumerated() {
            do {
                try await perform(step)
            } catch var error as StorageError where steps.count > 1 {
                error.message += " Of \(steps.count) operations, the first \(index) were applied."
                throw error
            }
        }
        return StorageAnswer(BatchOutcome())
    }

    enum Step {
        case put(URL, Data, CacheKey)
        case delete(URL, CacheKey)
        case deleteAll
        case nothing
    }

    /// Checks an operation, so that one that can't be sent is refused before others are applied.
    func step(_ operation: StorageOperation) throws -> Step {
        switch operation {
        case .write(let key, let data):
            guard let url = try collection.url(of: key) else {
                throw StorageError(
                    .invalidArgument, "The key of an item is CacheKey(id), with an identifier that is not empty.",
                    key: key)
            }
            do {
                return .put(url, try objects.object(in: data, writtenUnder: key), key)
            } catch let failure as JSONFailure {
                throw StorageError(.encodingFailed, "The item can't be sent. \(failure.message)", key: key)
            }
        case .remove(let key):
            return try collection.url(of: key).map { .delete($0, key) } ?? .nothing
        case .removeAll:
            return .deleteAll
        }
    }

    private func perform(_ step: Step) async throws {
        switch step {
        case .put(let url, let data, let key): _ = try await send(.put, url, key: key, body: data)
        case .delete(let url, let key): _ = try await send(.delete, url, key: key)
        case .deleteAll:
            // Items that have no address are refused before others are removed.
            let items = try await fetchKeys().map { ($0, try collection.url(of: $0)) }
            for case (let key, let url?) in items { _ = try await send(.delete, url, key: key) }
        case .nothing: break
        }
    }
}
