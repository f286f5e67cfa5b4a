public import Foundation
import Logging

extension ObjectStorage {

    /// Reads an object.
    ///
    /// - Parameter key: The object's key.
    /// - Returns: The object, or `nil` if there is none or it could not be read or decoded.
    public func object(forKey key: CacheKey) async -> Object? {
        await loggingErrors(orElse: nil) { try await fetchObject(forKey: key) }
    }

    /// Reads several objects with one call to the engine.
    ///
    /// - Parameter keys: The objects' keys.
    /// - Returns: The objects that exist and could be decoded, in the order of `keys`.
    public func objects(forKeys keys: [CacheKey]) async -> [Object] {
        await objectsAndKeys(keys: keys).map { $0.object }
    }

    /// Reads several objects together with their keys, with one call to the engine.
    ///
    /// - Parameter keys: The objects' keys.
    /// - Returns: The objects that exist and could be decoded, in the order of `keys`.
    public func objectsAndKeys(keys: [CacheKey]) async -> [(key: CacheKey, object: Object)] {
        await loggingErrors(orElse: []) { decodable(try await fetchObjects(forKeys: keys)) }
    }

    /// Reads all objects.
    ///
    /// - Returns: The objects that could be decoded, in insertion order.
    public func allObjects() async -> [Object] {
        await allObjectsAndKeys().map { $0.object }
    }

    /// Reads all objects together with their keys.
    ///
    /// - Returns: The objects that could be decoded, in insertion order.
    public func allObjectsAndKeys() async -> [(key: CacheKey, object: Object)] {
        await loggingErrors(orElse: []) { decodable(try await fetchAllObjects()) }
    }

    /// Counts the objects, including those that cannot be decoded.
    ///
    /// - Returns: The number of objects; 0 if they could not be counted.
    public func keyCount() async -> Int {
        await storage.keyCount()
    }

    /// Lists the keys of all objects, including those that cannot be decoded.
    ///
    /// - Returns: The keys in insertion order; empty if they could not be read.
    public func allKeys() async -> [CacheKey] {
        await storage.allKeys()
    }

    /// Returns when an object was first stored.
    ///
    /// - Parameter key: The object's key.
    /// - Returns: The date, or `nil` if there is no such object or it could not be read.
    public func createdAt(forKey key: CacheKey) async -> Date? {
        await storage.createdAt(key: key)
    }

    /// Returns when an object was last stored.
    ///
    /// - Parameter key: The object's key.
    /// - Returns: The date, or `nil` if there is no such object or it could not be read.
    public func updatedAt(forKey key: CacheKey) async -> Date? {
        await storage.updatedAt(key: key)
    }

    private func decodable(_ fetched: FetchedObjects<Object>) -> [(key: CacheKey, object: Object)] {
        for error in fetched.undecodable {
            bodegaLogger.error(
                "A record could not be decoded and was omitted from a read.", metadata: ["error": "\(error)"])
        }
        return fetched.objectsAndKeys
    }
}
