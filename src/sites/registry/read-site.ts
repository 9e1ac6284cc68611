import type { Principal } from '../../model/access.ts';
import { decodeJson, own } from '../../model/json.ts';
import {
  type DeployedFile,
  type DeployedPage,
  type DeploymentContents,
  siteCoordinate,
  currentOf,
  isMadeFor,
  type Deployment,
  type DocumentationSite,
  type SiteName,
} from '../model/documentation-site.ts';
import type { PageContent } from '../model/source-page.ts';
import { findReadable } from '../../registry/readable.ts';
import type { Registry } from '../../registry/registry.ts';
import { readPlace, readContents } from './bundles.ts';
import { factsIn } from './check-site.ts';

declare const proof: unique symbol;

/**
 * A published site that its reader may read. Only this file creates one, and the functions that
 * open pages and files require it.
 */
export interface GrantedSite {
  readonly [proof]: true;
  readonly site: DocumentationSite;
  readonly deployment: Deployment;
  readonly contents: DeploymentContents;
}

/**
 * The site as it is published, if it is and the principal may read it; else null: the caller cannot
 * tell which.
 */
export async function grantSite(registry: Registry, principal: Principal, name: SiteName): Promise<GrantedSite | null> {
  const site = (await findReadable(registry, principal, siteCoordinate(name)))?.value;
  const deployment = site ? currentOf(site) : null;
  return deployment === null ? null : grantDeployment(registry, site!, deployment);
}

/**
 * A state of a site that was never published, if it was made for the site that has its name now and
 * the principal may read that; else null.
 * `registry`: a view that has its bytes.
 */
export async function grantPreview(
  registry: Registry,
  principal: Principal,
  name: SiteName,
  deployment: Deployment,
): Promise<GrantedSite | null> {
  const site = (await findReadable(registry, principal, siteCoordinate(name)))?.value;
  const isOwn = site !== undefined && isMadeFor(site, { ...deployment, at: deployment.publishedAt });
  return isOwn ? grantDeployment(registry, site, deployment) : null;
}

/** Only for whoever has checked that the reader may see this deployment. */
async function grantDeployment(
  registry: Registry,
  site: DocumentationSite,
  deployment: Deployment,
): Promise<GrantedSite> {
  const { manifest } = deployment;
  const contents = await registry.answers.content(`site ${manifest}`, () => readContents(registry, manifest), bytesIn);
  return { site, deployment, contents } as unknown as GrantedSite;
}

/** Bytes that each fact of a deployment takes in memory, roughly. */
const factSize = 200;

function bytesIn({ pages, files }: DeploymentContents): number {
  return factSize * (factsIn(pages) + Object.keys(files).length);
}

/** A page of a site, or null. */
export function findPage({ contents }: GrantedSite, path: string): DeployedPage | null {
  return own(contents.pages, path) ?? null;
}

/** Another file of a site, or null. */
export function findFile({ contents }: GrantedSite, path: string): DeployedFile | null {
  return own(contents.files, path) ?? null;
}

/** The content of a page. */
export async function openPage(registry: Registry, _granted: GrantedSite, page: DeployedPage): Promise<PageContent> {
  return decodeJson<PageContent>(await readPlace(registry, page));
}

/** The bytes of a file. */
export async function openFile(registry: Registry, _granted: GrantedSite, file: DeployedFile): Promise<Uint8Array> {
  return readPlace(registry, file);
}
