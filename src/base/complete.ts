/** Options with all their defaults filled in. */
export type Complete<Options> = {
  readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined>;
};
