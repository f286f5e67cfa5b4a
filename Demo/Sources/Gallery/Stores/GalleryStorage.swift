public import Bodega
import Boutique
public import Foundation

/// Where the gallery keeps what it keeps.
///
///     gallery.sqlite3   the favourites, the picture on the easel, and the images, each in a collection of its own
///     secrets/          the session, encrypted
///     lock              held while a gallery runs on this folder
///
/// The preferences are in the user defaults, in a suite for each folder.
public struct GalleryStorage: Sendable {
    let favourites: any StorageEngine
    let easel: any StorageEngine
    let images: any StorageEngine
    let secrets: any SecretStorage
    /// Names the user defaults with the preferences.
    let defaultsSuite: String
    private let lock: FolderLock?

    /// Opens the files in a folder; creates what is missing.
    ///
    /// - Parameter directory: The folder.
    /// - Throws: A `StorageError`: with the code `locked` if another gallery runs on this folder, with others if a file
    ///   could not be opened.
    public init(directory: FileManager.Directory) throws {
        let lock = try FolderLock(directory)
        let file = try SQLiteStorageEngine(opening: directory, databaseFilename: "gallery")
        self.init(
            favourites: try file.collection(named: "favourites"),
            easel: try file.collection(named: "easel"),
            images: try file.collection(named: "images"),
            secrets: EncryptedFileSecretStorage(directory: directory.appending("secrets")),
            // A path with slashes is no name of a suite everywhere.
            defaultsSuite: "emporium-gallery." + CacheKey(directory.url.standardizedFileURL.path).value,
            lock: lock
        )
    }

    /// Puts a storage together, for tests.
    init(
        favourites: any StorageEngine,
        easel: any StorageEngine,
        images: any StorageEngine,
        secrets: any SecretStorage,
        defaultsSuite: String,
        lock: FolderLock? = nil
    ) {
        self.favourites = favourites
        self.easel = easel
        self.images = images
        self.secrets = secrets
        self.defaultsSuite = defaultsSuite
        self.lock = lock
    }
}

extension FileManager.Directory {
    /// A folder in this one.
    ///
    /// - Parameter name: Its name.
    public func appending(_ name: String) -> Self {
        Self(url: url.appendingPathComponent(name, isDirectory: true))
    }
}
