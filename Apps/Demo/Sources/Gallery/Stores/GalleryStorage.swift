public import Bodega
import Boutique
public import Foundation

/// The storage of the gallery.
///
///     gallery.sqlite3   the favourites, the albums, the picture on the easel, the images, and the archive, each in a
///                       collection of its own
///     secrets/          the session, encrypted
///     lock              locked while a gallery uses this folder
///
/// The preferences are in the user defaults, in one suite for each folder.
public struct GalleryStorage: Sendable {
    let favourites: any StorageEngine
    /// In the database of the favourites, which the albums refer to.
    let albums: any StorageEngine
    let easel: any StorageEngine
    let images: any StorageEngine
    let archive: any StorageBackend
    /// How much of the archive has been created.
    let archiveProgress: any StorageEngine
    let secrets: any SecretStorage
    /// The suite of user defaults that stores the preferences.
    let defaultsSuite: String
    private let lock: FolderLock?

    /// Opens the files in a folder and creates missing ones.
    ///
    /// - Parameter directory: The folder.
    /// - Throws: A `StorageError`, with the code `locked` if another gallery is using this folder, or with another code
    ///   if a file could not be opened.
    public init(directory: FileManager.Directory) throws {
        let lock = try FolderLock(directory)
        let file = try SQLiteStorageEngine(opening: directory, databaseFilename: "gallery")
        self.init(
            favourites: try file.collection(named: Favourite.collection),
            albums: try file.collection(named: "albums"),
            easel: try file.collection(named: "easel"),
            images: try file.collection(named: "images"),
            archive: try file.collection(named: "archive"),
            archiveProgress: try file.collection(named: "archive-progress"),
            secrets: EncryptedFileSecretStorage(directory: directory.appending("secrets")),
            // Not every platform allows slashes in the name of a suite.
            defaultsSuite: "emporium-gallery." + CacheKey(directory.url.standardizedFileURL.path).value,
            lock: lock
        )
    }

    /// Creates a storage from engines, for tests.
    init(
        favourites: any StorageEngine,
        albums: any StorageEngine,
        easel: any StorageEngine,
        images: any StorageEngine,
        archive: any StorageBackend,
        archiveProgress: any StorageEngine,
        secrets: any SecretStorage,
        defaultsSuite: String,
        lock: FolderLock? = nil
    ) {
        self.favourites = favourites
        self.albums = albums
        self.easel = easel
        self.images = images
        self.archive = archive
        self.archiveProgress = archiveProgress
        self.secrets = secrets
        self.defaultsSuite = defaultsSuite
        self.lock = lock
    }
}

extension FileManager.Directory {
    /// A subfolder.
    ///
    /// - Parameter name: Its name.
    public func appending(_ name: String) -> Self {
        Self(url: url.appendingPathComponent(name, isDirectory: true))
    }
}
